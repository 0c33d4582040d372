#include "study/lab/sample.hpp"

namespace goban::study::lab {

using core::model::JobHistory;

std::vector<Pick> first_jobs(const JobHistory& history, TimeNs span_ns) {
  std::vector<Pick> picks;
  if (history.jobs.empty()) return picks;
  const TimeNs end = base::add_saturating(history.jobs.front().request.submit_ns, span_ns);
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    const TimeNs submit = history.jobs[i].request.submit_ns;
    if (submit >= end) break;
    picks.push_back({i, submit});
  }
  return picks;
}

JobHistory take_jobs(const JobHistory& history, std::span<const Pick> picks) {
  JobHistory out;
  out.models = history.models;
  out.users = history.users;
  out.accounts = history.accounts;
  out.partitions = history.partitions;
  out.qos = history.qos;
  out.data_sets = history.data_sets;
  out.arrays = history.arrays;
  out.jobs.reserve(picks.size());
  for (const Pick& pick : picks) {
    core::model::Job job = history.jobs[pick.job];
    const TimeNs shift = pick.submit_ns - job.request.submit_ns;
    job.request.submit_ns = pick.submit_ns;
    out.jobs.push_back(job);
    out.job_names.add(history.job_names[pick.job]);
    out.has_walltime_limits |= job.request.walltime_limit_ns > 0;
    if (!history.training.empty()) out.training.push_back(history.training[pick.job]);
    if (!history.staging.empty()) out.staging.push_back(history.staging[pick.job]);
    if (history.recorded.empty()) continue;
    core::model::Recorded& recorded = out.recorded.emplace_back(history.recorded[pick.job]);
    if (recorded.start_ns >= 0) recorded.start_ns += shift;
    if (recorded.finish_ns >= 0) recorded.finish_ns += shift;
  }
  return out;
}

}  // namespace goban::study::lab
