#include "study/rivals/elasticflow.hpp"

#include <algorithm>
#include <array>

#include "base/number.hpp"

namespace goban::study::rivals {

std::string ElasticRun::rows_csv(const std::vector<ElasticJob>& jobs) const {
  std::string out =
      "time,job_id,num_gpu,submit_time,start_time,end_time,ddl,executed_time,JCT,pending_time,"
      "preempt,promote,best_effort_job\n";
  constexpr double kNoStart = 9223372036854775808.0;  // as published: 2^63 rounded to a double
  for (const ElasticRow& row : rows) {
    const ElasticJob& job = jobs[static_cast<size_t>(row.job)];
    const double start_s = row.start_s.value_or(kNoStart);
    const std::array<double, 10> numbers = {
        row.logged_s,
        static_cast<double>(row.job),
        static_cast<double>(row.gpus),
        job.submit_s,
        start_s,
        row.end_s,
        job.deadline_s,
        row.end_s - start_s,
        static_cast<double>(static_cast<int64_t>(row.end_s - job.submit_s)),
        row.pending_s};
    for (const double number : numbers) {
      base::append_number(out, number);
      out += ',';
    }
    out += "0,0,0\n";
  }
  return out;
}

void ElasticRun::finish(const std::vector<ElasticJob>& jobs) {
  makespan_s = 0;
  double sum_s = 0;
  for (const ElasticRow& row : rows) {
    makespan_s = std::max(makespan_s, row.end_s);
    sum_s += row.end_s - jobs[static_cast<size_t>(row.job)].submit_s;
  }
  mean_jct_s = rows.empty() ? 0 : sum_s / static_cast<double>(rows.size());
}

}  // namespace goban::study::rivals
