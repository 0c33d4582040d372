// Lowering: the work of one device for each operation under a layout. It is decided completely
// before the run, so explanation, prediction and execution use the same plan.
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

/// One collective of a step.
struct Collective {
  comm::Operation operation;
  AxisSet axes;
  int64_t bytes;       ///< this device's contribution
  int64_t sent_bytes;  ///< sent by this device (comm::wire_bytes)
};

struct LoopPlan;

/// One operation on one device.
struct Step {
  NodeId node;
  TensorLayout layout;
  std::vector<int64_t> local;  ///< sizes on this device
  AxisSet pending = 0;  ///< mesh axes over which the value is a partial sum, still to be reduced
  std::vector<NodeId> complete;  ///< inputs whose pending sums are completed before this step
  std::vector<std::vector<NodeId>> together;  ///< per `complete`: others in its message
  AxisSet reduce_now = 0;                     ///< max and min: reduced over these axes immediately
  ReshapePlan reshape;
  std::vector<Collective> collectives;
  double flops = 0;
  int64_t value_bytes = 0;
  std::vector<NodeId> free_after;        ///< values without later users
  bool inner = false;                    ///< runs once per micro-batch
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
  std::vector<std::vector<NodeId>> last_together;  ///< for each: other values in its message
  std::vector<Collective> last_collectives;
  std::vector<std::string> warnings;
  std::map<NodeId, AxisSet> pending;  ///< pending axes of fetched values before `completed_last`
  PlanTotals totals;
};

/// A loop's two plans on one device, over Loop::graph.
struct LoopPlan {
  Plan going, body;
  int64_t turns = 1;  ///< expected iterations; the condition is evaluated once more
};

/// Lowers what `roots` (fetched and assigned values) depend on. With micro_batches > 1 the nodes
/// before Accumulate run once per micro-batch. Errors: Usage, from check_layout, and for a value
/// that depends on a micro-batch but is used without Accumulate.
[[nodiscard]] base::Result<Plan> lower(const Graph& graph, const std::vector<NodeId>& roots,
                                       const MeshShape& mesh, const LayoutRules& rules, int rank,
                                       int micro_batches = 1);

/// The plan as a text table: per operation its splits, collectives, bytes and floating-point
/// operations; then totals and warnings.
[[nodiscard]] std::string explain(const Graph& graph, const Plan& plan);

}  // namespace goban::train::mesh
