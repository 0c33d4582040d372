// Migration: running jobs continue on other GPUs. One file per policy.
//
// The core searches for nodes that can be emptied: all their jobs fit on other nodes that are in
// use. The policy decides which jobs may be moved, and whether a move pays. A move is a stop at a
// checkpoint and a start on other GPUs in the same decision. Jobs that share GPUs move together, so
// that no job gets a new neighbour.
#pragma once

#include <span>
#include <vector>

#include "core/policy/sharing/sharing.hpp"

namespace goban::core::policy {

struct Move {
  const JobState* job = nullptr;
  std::vector<model::GpuId> to;  ///< the same number as it holds
};

/// All jobs of a node and their targets: GPUs of nodes that other jobs use.
struct Evacuation {
  model::NodeId node;
  std::vector<Move> moves;
};

/// Decides which jobs may be moved, and whether a move pays. The base class moves no job.
class Migration {
 public:
  virtual ~Migration() = default;
  /// Interval at which the core searches for nodes to empty, while no job waits; kNever: never.
  [[nodiscard]] virtual TimeNs interval_ns() const { return base::kNever; }
  /// The job, which runs on the GPUs of one node, may be interrupted now.
  [[nodiscard]] virtual bool may_move(const SharingView& view, const JobState& job) const {
    (void)view, (void)job;
    return false;
  }
  /// Emptying the node saves more than the interruptions cost, and all service targets are met.
  [[nodiscard]] virtual bool pays(const SharingView& view, const Evacuation& evacuation) const {
    (void)view, (void)evacuation;
    return false;
  }
};

}  // namespace goban::core::policy
