// Migration: running jobs that go on elsewhere. One file a policy.
//
// The core looks for nodes that could be emptied: all their jobs fit on other nodes that are in use
// anyway. The policy says which jobs may be moved, and whether it pays. A move is a stop at a
// checkpoint and a start on other GPUs in the same decision; jobs that share GPUs move together, so
// that nobody gets a neighbour that he did not have.
#pragma once

#include <span>
#include <vector>

#include "core/policy/sharing/sharing.hpp"

namespace goban::core::policy {

struct Move {
  const JobState* job = nullptr;
  std::vector<model::GpuId> to;  ///< as many as it holds
};

/// All jobs of a node, and where they would go: GPUs of nodes that others use.
struct Evacuation {
  model::NodeId node;
  std::vector<Move> moves;
};

/// Says which jobs may be moved, and whether it pays. This one moves nobody.
class Migration {
 public:
  virtual ~Migration() = default;
  /// Nodes are looked at after so long, if nobody waits; kNever: nobody is moved.
  [[nodiscard]] virtual TimeNs interval_ns() const { return base::kNever; }
  /// The job may be interrupted now. It runs, on the GPUs of one node.
  [[nodiscard]] virtual bool may_move(const SharingView& view, const JobState& job) const {
    (void)view, (void)job;
    return false;
  }
  /// Emptying the node is worth the interruptions, and everybody keeps his promises.
  [[nodiscard]] virtual bool pays(const SharingView& view, const Evacuation& evacuation) const {
    (void)view, (void)evacuation;
    return false;
  }
};

}  // namespace goban::core::policy
