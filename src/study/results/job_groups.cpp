#include "study/results/job_groups.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <ranges>

namespace goban::study::results {

namespace {

JobGrouping group(std::string by, const core::model::JobHistory& history, base::TimeNs warmup_ns,
                  const std::function<uint32_t(const core::model::JobRequest&)>& key,
                  const std::function<std::string(uint32_t)>& name) {
  JobGrouping grouping;
  grouping.by = std::move(by);
  grouping.first_counted = first_counted(history, warmup_ns);
  const auto counted = std::views::iota(grouping.first_counted, history.jobs.size());
  std::map<uint32_t, uint32_t> number;
  for (const size_t job : counted) number[key(history.jobs[job].request)] = 0;
  for (auto& [k, index] : number) {
    index = static_cast<uint32_t>(grouping.names.size());
    grouping.names.push_back(name(k));
  }
  grouping.jobs.resize(number.size());
  grouping.of_job.reserve(counted.size());
  for (const size_t job : counted) {
    grouping.of_job.push_back(number[key(history.jobs[job].request)]);
    ++grouping.jobs[grouping.of_job.back()];
  }
  return grouping;
}

}  // namespace

size_t first_counted(const core::model::JobHistory& history, base::TimeNs warmup_ns) {
  if (history.jobs.empty()) return 0;
  const base::TimeNs from = history.jobs.front().request.submit_ns + warmup_ns;
  return *std::ranges::lower_bound(
      std::views::iota(size_t{0}, history.jobs.size()), from, {},
      [&history](size_t job) { return history.jobs[job].request.submit_ns; });
}

JobGrouping group_by_class(const core::model::JobHistory& history, base::TimeNs warmup_ns) {
  return group(
      "class", history, warmup_ns,
      [](const auto& request) { return uint32_t{request.app_class.value}; },
      [](uint32_t key) {
        return std::string(1, core::model::AppClass{static_cast<uint8_t>(key)}.letter());
      });
}

JobGrouping group_by_gpus(const core::model::JobHistory& history, base::TimeNs warmup_ns) {
  return group(
      "gpus", history, warmup_ns,
      [](const auto& request) {
        const auto gpus = static_cast<uint32_t>(std::max(0, request.num_gpus));
        return gpus == 0 ? 0 : std::bit_ceil(gpus);
      },
      [](uint32_t key) {
        return key <= 2 ? fmt::format("{}", key) : fmt::format("{}-{}", key / 2 + 1, key);
      });
}

GroupMeans group_means(const JobGrouping& grouping, const core::model::JobHistory& history,
                       const simulator::SimulationResult& result) {
  GroupMeans means;
  means.jct_s.resize(grouping.names.size());
  means.wait_s.resize(grouping.names.size());
  for (size_t i = grouping.first_counted; i < history.jobs.size(); ++i) {
    const uint32_t g = grouping.of_job[i - grouping.first_counted];
    const simulator::JobOutcome& outcome = result.outcomes[i];
    const base::TimeNs jct_ns = outcome.finish_ns - history.jobs[i].request.submit_ns;
    means.jct_s[g] += base::to_seconds(jct_ns);
    means.wait_s[g] += base::to_seconds(jct_ns - outcome.held_ns);
  }
  for (size_t g = 0; g < grouping.names.size(); ++g) {
    means.jct_s[g] /= static_cast<double>(grouping.jobs[g]);
    means.wait_s[g] /= static_cast<double>(grouping.jobs[g]);
  }
  return means;
}

}  // namespace goban::study::results
