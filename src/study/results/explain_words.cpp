#include "study/results/explain_words.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace goban::study::results {

std::string job_name(const core::model::JobHistory& history, core::model::JobId job) {
  if (job.index() < history.jobs.size()) return std::string(history.job_names[job.index()]);
  return fmt::format("filler {}", job.index() - history.jobs.size());
}

std::string job_list(const core::model::JobHistory& history,
                     const std::vector<core::model::JobId>& jobs, size_t count, size_t shown) {
  std::string out = count == 1 ? "job " : "jobs ";
  const size_t named = std::min(shown, jobs.size());
  for (size_t i = 0; i < named; ++i) {
    if (i > 0) out += i + 1 == count ? " and " : ", ";
    out += job_name(history, jobs[i]);
  }
  if (named < count) out += fmt::format(" and {} more", count - named);
  return out;
}

std::string gpu_list(const core::model::Cluster& cluster,
                     const std::vector<core::model::GpuId>& gpus) {
  std::vector<core::model::GpuId> sorted = gpus;
  std::ranges::sort(sorted);
  std::string out;
  for (size_t i = 0; i < sorted.size();) {
    const core::model::NodeId node = cluster.node_of(sorted[i]);
    size_t end = i;
    while (end < sorted.size() && cluster.node_of(sorted[end]) == node) ++end;
    out += fmt::format("{}{}: GPU{} ", out.empty() ? "" : "; ", cluster.node(node).name,
                       end - i > 1 ? "s" : "");
    for (size_t first = i; first < end;) {
      size_t last = first;
      while (last + 1 < end && sorted[last + 1].value == sorted[last].value + 1) ++last;
      out += fmt::format("{}{}", first == i ? "" : ", ", sorted[first].value);
      if (last > first) out += fmt::format("-{}", sorted[last].value);
      first = last + 1;
    }
    i = end;
  }
  return out;
}

const char* cause_key(core::scheduler::WaitCause cause) {
  using core::scheduler::WaitCause;
  switch (cause) {
    case WaitCause::NotWaiting:
      return "not_waiting";
    case WaitCause::ArrayLimit:
      return "array_limit";
    case WaitCause::AccountLimit:
      return "account_limit";
    case WaitCause::NoFreeGpus:
      return "no_free_gpus";
    case WaitCause::Window:
      return "maintenance_window";
    case WaitCause::Fragments:
      return "fragments";
    case WaitCause::HostResources:
      return "host_resources";
    case WaitCause::Reservation:
      return "reservation";
    case WaitCause::Round:
      return "round";
    case WaitCause::Order:
      return "order";
    case WaitCause::NotBegun:
      return "reservation_begins";
    case WaitCause::Promised:
      return "promised_nodes";
    case WaitCause::Sized:
      return "sizes";
  }
  return "";
}

const core::policy::PalEntry* chosen_entry(const simulator::Launch& launch) {
  const core::model::PlacementReason& reason = launch.allocation.reason;
  const auto found = std::ranges::find_if(launch.entries, [&](const core::policy::PalEntry& entry) {
    return entry.level == reason.level && entry.bin_value == reason.bin_value &&
           entry.product == reason.product;
  });
  return found == launch.entries.end() ? nullptr : &*found;
}

}  // namespace goban::study::results
