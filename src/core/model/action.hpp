// Actions: the only output of the core.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.hpp"
#include "core/model/ids.hpp"

namespace goban::core::model {

/// Why a job got these GPUs: the entry of the level x bin matrix that it was placed by.
struct PlacementReason {
  uint8_t level = 0;     ///< topology level within which the GPUs had to lie
  double bin_value = 1;  ///< largest binned PM score that was allowed
  double product = 1;    ///< bin value x locality penalty of the level
  /// knowledge::PredictionLevel of a shared placement; 0 = the GPUs were free.
  uint8_t prediction = 0;
};

/// What a job holds while it runs.
struct Allocation {
  std::vector<GpuId> gpus;    ///< in the order they were selected
  std::vector<NodeId> hosts;  ///< one entry per instance, for jobs with a resource type
  PlacementReason reason;
};

enum class ActionKind : uint8_t {
  Start,    ///< launch the job on the allocation that the core holds for it
  Preempt,  ///< checkpoint and stop the job; it waits again
  Abandon,  ///< the job was lost with its node; it waits again and resumes from its last checkpoint
  Observe,  ///< measure one epoch of the job, or until `until_ns`; report EventKind::RateObserved
  Cap,      ///< limit the power of a GPU; `cap` as in Tenants::Group
  Rest,     ///< put an idle node to sleep
  Wake,     ///< wake a node; EventKind::NodeAwake reports that it is awake
};

struct Action {
  ActionKind kind = ActionKind::Start;
  JobId job{};
  /// Start: the same GPUs that the job held last, so no data has to be moved.
  bool same_gpus = false;
  /// Preempt: a provisional placement is undone.
  bool undo = false;
  /// Preempt: a migration; the Start on other GPUs follows in the same decision.
  bool move = false;
  /// Preempt: the Start on another number of GPUs follows in the same decision.
  bool resize = false;
  int8_t cap = -1;            ///< Cap: index into the caps of the power model; -1 = no limit
  GpuId gpu{};                ///< Cap
  NodeId node{};              ///< Rest, Wake
  base::TimeNs until_ns = 0;  ///< Observe: the latest end of the observation
};

/// A co-located job failed and was requeued. Kept for the statistics of co-location.
struct Breakage {
  base::TimeNs at_ns = 0;
  JobId job{};
  std::vector<JobId> beside{};  ///< ascending
  bool out_of_memory = false;
};

}  // namespace goban::core::model
