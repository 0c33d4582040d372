// Lowering: what one device does for each operation under a layout. Decided completely before the
// run, so that what is explained, what is predicted and what is executed are one and the same.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"
#include "train/mesh/graph.hpp"
#include "train/mesh/layout.hpp"
#include "train/mesh/reshape_plan.hpp"

namespace goban::train::mesh {

/// One message of a step.
struct Collective {
  comm::Operation operation;
  AxisSet axes;
  int64_t bytes;       ///< what this device puts in
  int64_t sent_bytes;  ///< what it puts on the wire (comm::wire_bytes)
};

struct LoopPlan;

/// One operation on one device.
struct Step {
  NodeId node;
  TensorLayout layout;
  std::vector<int64_t> local;    ///< sizes on this device
  AxisSet pending = 0;           ///< axes over which the value is a part of a sum, not yet formed
  std::vector<NodeId> complete;  ///< inputs whose pending sums are formed just before
  std::vector<std::vector<NodeId>> together;  ///< for each of `complete`: others in its message
  AxisSet reduce_now = 0;                     ///< max and min: reduced over these at once
  ReshapePlan reshape;
  std::vector<Collective> collectives;
  double flops = 0;
  int64_t value_bytes = 0;
  std::vector<NodeId> free_after;        ///< values nobody needs later
  bool inner = false;                    ///< runs once a micro-batch
  std::shared_ptr<const LoopPlan> loop;  ///< While
};

struct PlanTotals {
  int64_t sent_bytes = 0;  ///< by this device in one step
  int64_t collectives = 0;
  double flops = 0;  ///< of this device
  int64_t peak_value_bytes = 0;
  int64_t variable_bytes = 0;
  int64_t updated_bytes = 0;  ///< of variables that the step's assignments change
};

struct Plan {
  MeshShape mesh;
  LayoutRules rules;
  int rank = 0;
  std::vector<Step> steps;             ///< inner ones first
  std::vector<NodeId> completed_last;  ///< fetched and assigned values completed at the end
  std::vector<std::vector<NodeId>> last_together;  ///< for each: others in its message
  std::vector<Collective> last_collectives;
  std::vector<std::string> warnings;
  std::map<NodeId, AxisSet> pending;  ///< of fetched values before `completed_last`
  PlanTotals totals;
};

/// A loop's two programs on one device, over Loop::graph.
struct LoopPlan {
  Plan going, body;
  int64_t turns = 1;  ///< expected; the condition is asked once more
};

/// Lowers what `roots` (fetched and assigned values) need. With micro_batches > 1 what lies before
/// Accumulate nodes runs that often. Errors: Usage, from check_layout, and for a value that
/// depends on a micro-batch but is used without Accumulate.
[[nodiscard]] base::Result<Plan> lower(const Graph& graph, const std::vector<NodeId>& roots,
                                       const MeshShape& mesh, const LayoutRules& rules, int rank,
                                       int micro_batches = 1);

/// The plan as a table for people: per operation what is split, what is communicated, bytes
/// and floating-point operations; then totals and warnings.
[[nodiscard]] std::string explain(const Graph& graph, const Plan& plan);

}  // namespace goban::train::mesh
