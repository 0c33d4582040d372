#include "study/history/resample.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/random.hpp"

namespace goban::study::history {
namespace {

using core::model::JobHistory;

/// The first job of each day, and the number of jobs.
std::vector<size_t> first_jobs(const JobHistory& history, int64_t days) {
  std::vector<size_t> first(static_cast<size_t>(days) + 1, history.jobs.size());
  const base::TimeNs begin_ns = history.jobs.front().request.submit_ns;
  for (size_t i = history.jobs.size(); i-- > 0;) {
    first[static_cast<size_t>((history.jobs[i].request.submit_ns - begin_ns) / base::kDay)] = i;
  }
  // A day without jobs begins, and ends, with the next one's first job.
  for (size_t day = first.size() - 1; day-- > 0;) {
    first[day] = std::min(first[day], first[day + 1]);
  }
  return first;
}

}  // namespace

int64_t days_of(const JobHistory& history) {
  if (history.jobs.empty()) return 0;
  return (history.jobs.back().request.submit_ns - history.jobs.front().request.submit_ns) /
             base::kDay +
         1;
}

JobHistory resampled_days(const JobHistory& history, uint64_t seed) {
  constexpr uint64_t kStream = 0x7265'7361'6d70'6c65;  // separates it from others of the same seed
  JobHistory out;
  out.models = history.models;
  out.users = history.users;
  out.accounts = history.accounts;
  out.partitions = history.partitions;
  out.qos = history.qos;
  out.has_walltime_limits = history.has_walltime_limits;
  const int64_t days = days_of(history);
  if (days == 0) return out;
  const std::vector<size_t> first = first_jobs(history, days);
  base::Random random(seed ^ kStream);
  for (int64_t day = 0; day < days; ++day) {
    const auto drawn = static_cast<size_t>(random.below(static_cast<uint64_t>(days)));
    const base::TimeNs shift_ns = (day - static_cast<int64_t>(drawn)) * base::kDay;
    std::unordered_map<size_t, core::model::ArrayId> arrays;
    for (size_t i = first[drawn]; i < first[drawn + 1]; ++i) {
      core::model::Job job = history.jobs[i];
      job.request.submit_ns += shift_ns;
      if (job.request.array.valid()) {
        const size_t array = job.request.array.index();
        const auto [place, is_new] = arrays.emplace(array, core::model::ArrayId(out.arrays.size()));
        if (is_new) out.arrays.push_back(history.arrays[array]);
        job.request.array = place->second;
      }
      out.jobs.push_back(job);
      out.job_names.add(history.job_names[i]);
      if (!history.training.empty()) out.training.push_back(history.training[i]);
    }
  }
  return out;
}

}  // namespace goban::study::history
