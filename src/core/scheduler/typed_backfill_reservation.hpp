// The backfill reservation of a job with a resource type: its latest start and the remaining room,
// counted node by node from free resources and the ends of running jobs.
#pragma once

#include <vector>

#include "core/scheduler/state.hpp"

namespace goban::core::scheduler {

/// The backfill reservation of one typed job. Ignores maintenance windows.
class TypedBackfillReservation {
 public:
  /// Cost: O(nodes + running jobs that end before the start).
  TypedBackfillReservation(const State& state, const JobState& job, TimeNs now);

  /// Earliest start if no other job starts before; kNever if running jobs never free enough.
  [[nodiscard]] TimeNs start_ns() const { return start_ns_; }
  /// True if `allocation`, held beyond the start, leaves enough room for the reserved job; it then
  /// counts as taken.
  [[nodiscard]] bool admit(const JobRequest& request, const Allocation& allocation);

 private:
  [[nodiscard]] int32_t instances_on(NodeId node) const;
  /// Adds the allocation to the room of its nodes.
  void add_back(const JobRequest& request, const Allocation& allocation);
  void refresh(NodeId node);
  void reserve(int32_t instances);

  const model::Cluster* cluster_;
  const model::ResourceType* type_;
  std::vector<Resources::NodeRoom> rooms_;  ///< by node, at start_ns_
  std::vector<int32_t> fits_;               ///< instances by node, at start_ns_
  int64_t total_fits_ = 0;
  TimeNs start_ns_ = base::kNever;
};

}  // namespace goban::core::scheduler
