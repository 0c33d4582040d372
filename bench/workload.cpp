#include "bench/workload.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/number.hpp"
#include "base/output_file.hpp"
#include "base/random.hpp"

namespace goban::bench {

core::model::JobHistory make_history(const WorkloadShape& shape) {
  base::Random random(shape.seed);
  std::vector<double> submit_s(shape.jobs);
  for (double& s : submit_s) s = std::floor(random.uniform() * shape.horizon_s);
  std::ranges::sort(submit_s);
  core::model::JobHistory history;
  history.jobs.reserve(shape.jobs);
  for (uint64_t i = 0; i < shape.jobs; ++i) {
    core::model::Job job;
    job.request.submit_ns = base::from_seconds(submit_s[i]);
    job.request.num_gpus = static_cast<int32_t>(1u << random.below(shape.size_max_log2 + 1));
    job.request.app_class = core::model::AppClass{static_cast<uint8_t>(random.below(3))};
    job.request.model =
        core::model::ModelId(history.models.intern("m" + std::to_string(random.below(8))));
    job.request.user =
        core::model::UserId(history.users.intern("u" + std::to_string(random.below(500))));
    job.work_s = 1 + std::floor(-std::log(1 - random.uniform()) * shape.mean_duration_s);
    history.jobs.push_back(job);
    history.job_names.add(std::to_string(i));
  }
  return history;
}

void write_generic_csv(const core::model::JobHistory& history, const std::string& path) {
  auto file = base::OutputFile::create(path).value();
  std::string& out = file.buffer();
  out += "job_id,submit_time,duration,num_gpus,user,model\n";
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    const core::model::Job& job = history.jobs[i];
    out += history.job_names[i];
    out += ',';
    base::append_seconds(out, job.request.submit_ns);
    out += ',';
    base::append_number(out, job.work_s);
    out += ',';
    base::append_number(out, int64_t{job.request.num_gpus});
    out += ',';
    out += history.users[job.request.user.index()];
    out += ',';
    out += history.models[job.request.model.index()];
    out += '\n';
    file.write_out();
  }
  if (!file.commit()) std::abort();
}

core::knowledge::PmScores make_scores(const core::model::Cluster& cluster, uint64_t seed) {
  base::Random random(seed);
  std::vector<core::knowledge::ClassScores> classes;
  for (int c = 0; c < 3; ++c) {
    std::vector<double> raw;
    std::vector<double> bins;
    for (uint32_t gpu = 0; gpu < cluster.num_gpus(); ++gpu) {
      bins.push_back(0.9 + 0.05 * static_cast<double>(random.below(6)));
      raw.push_back(bins.back() + 0.01 * random.uniform());
    }
    classes.push_back(core::knowledge::class_from_values(std::move(raw), bins));
  }
  return core::knowledge::PmScores(std::move(classes));
}

}  // namespace goban::bench
