// What the core wants done: its only output.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "core/model/ids.hpp"

namespace goban::core::model {

/// Why a job got these GPUs: the entry of the level x bin traversal that served it.
struct PlacementReason {
  uint8_t level = 0;     ///< topology level the GPUs had to share
  double bin_value = 1;  ///< largest binned PM score that was allowed
  double product = 1;    ///< bin value x locality penalty of the level
  /// knowledge::PredictionLevel behind a shared place; 0 = the GPUs were free.
  uint8_t prediction = 0;
};

/// What a job holds while it runs.
struct Allocation {
  std::vector<GpuId> gpus;    ///< in the order they were selected
  std::vector<NodeId> hosts;  ///< one entry an instance, for jobs with a resource type
  PlacementReason reason;
};

enum class ActionKind : uint8_t {
  Start,    ///< launch the job on the allocation that the core holds for it
  Preempt,  ///< checkpoint and stop it; it waits again
  Abandon,  ///< its node failed: it is gone and waits again from its last checkpoint
  Observe,  ///< measure one epoch of it, or until `until_ns`, and report EventKind::RateObserved
  Cap,      ///< limit the power of a GPU; `cap` as in Tenants::Group
  Rest,     ///< put an idle node to sleep
  Wake,     ///< wake it; EventKind::NodeAwake when it is
};

struct Action {
  ActionKind kind = ActionKind::Start;
  JobId job{};
  /// Start: the very set of GPUs that it held last, so nothing has to be moved.
  bool same_gpus = false;
  /// Preempt: a shared allocation is taken back.
  bool undo = false;
  /// Preempt: it goes on at once on other GPUs; a Start follows.
  bool move = false;
  int8_t cap = -1;            ///< Cap: index into the caps of the power model; -1 = no limit
  GpuId gpu{};                ///< Cap
  NodeId node{};              ///< Rest, Wake
  base::TimeNs until_ns = 0;  ///< Observe: the time bound
};

/// A job broke beside others on its GPUs: kept for whoever wants to know who disturbs whom.
struct Breakage {
  base::TimeNs at_ns = 0;
  JobId job{};
  std::vector<JobId> beside{};  ///< ascending
  bool out_of_memory = false;
};

}  // namespace goban::core::model
