// Test support: one model under every legal layout must give one result.
#pragma once

#include <ATen/core/Tensor.h>
#include <functional>
#include <string>
#include <vector>

#include "train/mesh/gradient.hpp"
#include "train/mesh/ops.hpp"
#include "train/mesh/program.hpp"

namespace goban::train::mesh {

/// Builds a graph and returns the values to compare.
using Builder = std::function<std::vector<Tensor>(Graph&)>;

struct LayoutCase {
  std::string mesh;
  std::string layout;
};

/// Every assignment of dimensions to axes of the mesh that check_layout accepts.
[[nodiscard]] std::vector<LayoutCase> legal_layouts(const Builder& build, const std::string& mesh);

/// Values for all inputs of a graph: uniform in (-1, 1), or 0 .. n-1 for int64 inputs called
/// "index_n" (0 .. 9 without a number). Determined by the seed.
[[nodiscard]] Feeds make_feeds(const Graph& graph, uint64_t seed);

struct RunOptions {
  uint64_t seed = 1;
  bool update = false;
  int steps = 1;
  int micro_batches = 1;
  bool fixed_order = false;
  c10::Device device = c10::kCPU;
};

/// Runs the model on threads as ranks and returns rank 0's fetched values of the last step, after
/// checking that all ranks fetched the same bits and that the bytes sent equal the prediction.
[[nodiscard]] base::Result<std::vector<at::Tensor>> run_on_threads(const Builder& build,
                                                                   const LayoutCase& layout,
                                                                   const RunOptions& options = {});

/// One rank's part of such a run, for any communicator.
[[nodiscard]] base::Result<std::vector<at::Tensor>> run_rank(const Builder& build,
                                                             const LayoutCase& layout,
                                                             const RunOptions& options,
                                                             comm::Communicator& end);

/// Empty if all are equal within `tolerance` * (1 + |wanted|); otherwise the first difference.
[[nodiscard]] std::string difference(const std::vector<at::Tensor>& got,
                                     const std::vector<at::Tensor>& wanted, double tolerance);

/// Sums `y`, weighted by fixed random numbers, to a loss; returns y and the gradients of xs.
[[nodiscard]] std::vector<Tensor> with_gradients(Tensor y, const std::vector<Tensor>& xs);

/// Models of all operations for one type, by name; run on threads and under mpirun.
[[nodiscard]] std::vector<std::pair<std::string, Builder>> operation_cases(DType real);

/// Random operations chosen by the seed, and the gradients of their inputs.
[[nodiscard]] std::vector<Tensor> random_graph(Graph& graph, uint64_t seed);

}  // namespace goban::train::mesh
