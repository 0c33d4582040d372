// A lowered graph that can run: one device's part of each operation, with its collectives.
#pragma once

#include <ATen/core/Tensor.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "train/comm/async_reducer.hpp"
#include "train/mesh/graph.hpp"
#include "train/mesh/plan.hpp"
#include "train/mesh/variables.hpp"

namespace goban::train::mesh {

/// Tensors by input name. Each dimension is whole, the same on every device (which takes its
/// slice), or has the size of this device's slice and is that slice.
using Feeds = std::map<std::string, at::Tensor>;

/// What happens to sums over devices, such as gradients, while the device computes.
enum class Overlap : uint8_t {
  Off,      ///< they are formed when they are needed
  Buckets,  ///< in buckets, each as soon as its values are computed
  Delayed,  ///< so are `gradients`; the step takes those of the step before (at first, zeros)
};

struct ProgramOptions {
  std::vector<Tensor> fetches;
  bool update = false;  ///< run the graph's assignments after each step
  int micro_batches = 1;
  Overlap overlap = Overlap::Off;
  int64_t bucket_bytes = 0;
  bool bf16_buckets = false;              ///< fp32 values are sent as bf16, and summed in fp32
  comm::AsyncReducer* reducer = nullptr;  ///< for overlap; must outlive the program
  std::vector<NodeId> gradients = {};     ///< for Overlap::Delayed
  /// A scalar: if it is 0, the step's assignments are left out, apart from those made always; -1:
  /// none.
  NodeId gate = -1;
};

/// Created once and run at every step by the thread that drives its Communicator.
class Program {
 public:
  /// Errors: Usage, from lower(), when the number of devices of the mesh is not the number of
  /// ranks, and for Overlap::Delayed if a gradient is not one sum over devices.
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
