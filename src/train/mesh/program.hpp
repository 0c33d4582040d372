// A lowered graph that can run: one device's part of each operation, with its collectives.
#pragma once

#include <ATen/core/Tensor.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "train/mesh/graph.hpp"
#include "train/mesh/plan.hpp"
#include "train/mesh/variables.hpp"

namespace goban::train::mesh {

/// Whole tensors by input name, the same on every device (each takes its slice).
using Feeds = std::map<std::string, at::Tensor>;

struct ProgramOptions {
  std::vector<Tensor> fetches;
  bool update = false;  ///< run the graph's assignments after each step
  int micro_batches = 1;
};

/// Created once and run at every step by the thread that drives its Communicator.
class Program {
 public:
  /// Errors: Usage, from lower(), and when the number of devices of the mesh is not the number of
  /// ranks.
  [[nodiscard]] static base::Result<std::unique_ptr<Program>> create(Variables& variables,
                                                                     ProgramOptions options);
  ~Program();

  /// Runs one step, with one Feeds per micro-batch. Returns the fetched values, complete, on every
  /// device. `step` seeds the random operations. Errors: those of the Communicator; BadData for a
  /// feed that is missing or has another shape; Failed for a failure in LibTorch.
  [[nodiscard]] base::Result<std::vector<at::Tensor>> run(const std::vector<Feeds>& feeds,
                                                          uint64_t step);
  [[nodiscard]] const Plan& plan() const;

 private:
  struct Impl;
  explicit Program(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace goban::train::mesh
