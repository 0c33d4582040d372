// When a job that asks for instances of a resource type can start at the latest, and what is left
// beside it then: counted node by node from what is free and from the ends of running jobs.
#pragma once

#include <vector>

#include "core/scheduler/state.hpp"

namespace goban::core::scheduler {

/// The promise to one typed job. Knows no maintenance windows.
class TypedBackfillReservation {
 public:
  /// Cost: nodes + running jobs that end before the start.
  TypedBackfillReservation(const State& state, const JobState& job, TimeNs now);

  /// Earliest start if nobody else starts before; kNever if no end of a running job helps.
  [[nodiscard]] TimeNs start_ns() const { return start_ns_; }
  /// True if `allocation`, held beyond the start, leaves the reserved job its place; then it counts
  /// as taken.
  [[nodiscard]] bool admit(const JobRequest& request, const Allocation& allocation);

 private:
  [[nodiscard]] int32_t instances_on(const Resources::NodeRoom& room) const;
  /// Adds what the allocation holds to the room of its nodes.
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
