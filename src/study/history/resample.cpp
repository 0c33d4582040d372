#include "study/history/resample.hpp"

#include <unordered_map>
#include <vector>

#include "base/check.hpp"
#include "base/random.hpp"

namespace goban::study::history {

using core::model::JobHistory;

int64_t days_of(const JobHistory& history) {
  if (history.jobs.empty()) return 0;
  return (history.jobs.back().request.submit_ns - history.jobs.front().request.submit_ns) /
             base::kDay +
         1;
}

std::vector<Pick> drawn_blocks(const JobHistory& history, base::TimeNs block_ns, uint64_t seed) {
  GOBAN_CHECK(block_ns > 0);
  std::vector<Pick> picks;
  if (history.jobs.empty()) return picks;
  const base::TimeNs origin = history.jobs.front().request.submit_ns;
  std::vector<size_t> first;  // the first job of each block, and the end
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    const base::TimeNs since = history.jobs[i].request.submit_ns - origin;
    while (since >= static_cast<base::TimeNs>(first.size()) * block_ns) first.push_back(i);
  }
  const size_t blocks = first.size();
  first.push_back(history.jobs.size());
  base::Random random(seed);
  for (size_t place = 0; place < blocks; ++place) {
    const size_t drawn = random.below(blocks);
    const base::TimeNs shift_ns =
        (static_cast<base::TimeNs>(place) - static_cast<base::TimeNs>(drawn)) * block_ns;
    for (size_t i = first[drawn]; i < first[drawn + 1]; ++i) {
      picks.push_back({i, history.jobs[i].request.submit_ns + shift_ns});
    }
  }
  return picks;
}

JobHistory resampled_days(const JobHistory& history, uint64_t seed) {
  constexpr uint64_t kStream = 0x7265'7361'6d70'6c65;  // separates it from others of the same seed
  JobHistory out;
  out.models = history.models;
  out.users = history.users;
  out.accounts = history.accounts;
  out.partitions = history.partitions;
  out.qos = history.qos;
  out.data_sets = history.data_sets;
  out.has_walltime_limits = history.has_walltime_limits;
  std::unordered_map<size_t, core::model::ArrayId> arrays;  // of the day
  int64_t arrays_day = 0;
  for (const Pick& pick : drawn_blocks(history, base::kDay, seed ^ kStream)) {
    core::model::Job job = history.jobs[pick.job];
    job.request.submit_ns = pick.submit_ns;
    const int64_t day = (pick.submit_ns - history.jobs.front().request.submit_ns) / base::kDay;
    if (day != arrays_day) arrays.clear();
    arrays_day = day;
    if (job.request.array.valid()) {
      const size_t array = job.request.array.index();
      const auto [place, is_new] = arrays.emplace(array, core::model::ArrayId(out.arrays.size()));
      if (is_new) out.arrays.push_back(history.arrays[array]);
      job.request.array = place->second;
    }
    out.jobs.push_back(job);
    out.job_names.add(history.job_names[pick.job]);
    if (!history.training.empty()) out.training.push_back(history.training[pick.job]);
    if (!history.staging.empty()) out.staging.push_back(history.staging[pick.job]);
  }
  return out;
}

}  // namespace goban::study::history
