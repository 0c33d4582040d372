// Chooses layouts: all legal layouts are lowered and priced, so the choice is optimal for the cost
// model. (Mesh TensorFlow's auto_mtf minimises memory; Objective::Memory does the same.)
#pragma once

#include <functional>
#include <vector>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"
#include "train/mesh/graph.hpp"
#include "train/mesh/plan.hpp"

namespace goban::train::mesh {

/// Costs of the machine, measured or given.
struct CostModel {
  double alpha_s = 1e-5;          ///< latency of one collective, for any size
  double beta_s_per_byte = 1e-9;  ///< per byte sent by one device
  double flops_per_s = 1e10;      ///< of matrix products and convolutions on one device
  double bytes_per_s = 1e9;       ///< rate at which other operations produce results
};

/// Predicted seconds per step on one device.
[[nodiscard]] double predicted_step_s(const Graph& graph, const Plan& plan, const CostModel& costs,
                                      int micro_batches);

/// The same if sums over devices run while later steps compute, in buckets of at most this size
/// (buckets.hpp): communication counts as far as it is exposed.
[[nodiscard]] double overlapped_step_s(const Graph& graph, const Plan& plan, const CostModel& costs,
                                       int micro_batches, int64_t bucket_bytes);

enum class Objective : uint8_t {
  Time,    ///< minimum predicted_step_s
  Memory,  ///< minimum peak of values; ties: more dimensions split (auto_mtf's objective)
};

struct PlannerOptions {
  Objective objective = Objective::Time;
  CostModel costs;
  int64_t memory_limit_bytes = 0;  ///< of variables and values on a device; 0 = none
  int micro_batches = 1;
  std::function<bool()> stopped = {};  ///< called at each layout; true ends the search
  int64_t bucket_bytes = 0;  ///< > 0: communication overlaps, and its exposed time alone counts
};

struct LayoutChoice {
  MeshShape mesh;
  LayoutRules rules;
  double step_s = 0;
  int64_t memory_bytes = 0;
  size_t examined = 0;  ///< legal layouts priced
};

/// The best layout on one mesh. Errors: Usage, if none fits the memory limit, with the minimum
/// memory required.
[[nodiscard]] base::Result<LayoutChoice> choose_layout(const Graph& graph,
                                                       const std::vector<NodeId>& roots,
                                                       const MeshShape& mesh,
                                                       const PlannerOptions& options);
/// The best layout over the meshes of mesh_shapes().
[[nodiscard]] base::Result<LayoutChoice> choose_mesh_and_layout(const Graph& graph,
                                                                const std::vector<NodeId>& roots,
                                                                int64_t devices,
                                                                const PlannerOptions& options);

/// All layouts on these meshes that are legal and fit the memory limit, the best first.
[[nodiscard]] std::vector<LayoutChoice> rank_layouts(const Graph& graph,
                                                     const std::vector<NodeId>& roots,
                                                     const std::vector<MeshShape>& meshes,
                                                     const PlannerOptions& options);

/// Factorisations of `devices` into at most `most_axes` non-increasing factors above 1, as meshes
/// with axes mesh_0, mesh_1, ...: 8 gives 8; 4 x 2; with three axes also 2 x 2 x 2.
[[nodiscard]] std::vector<MeshShape> mesh_shapes(int64_t devices, size_t most_axes = 2);

}  // namespace goban::train::mesh
