// Finds the largest model or batch that trains within the memory of a device, for several numbers
// of ranks: predicted from plans alone, then found by training steps under the limit.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"
#include "train/trainer/options.hpp"

namespace goban::train::trainer {

/// The size to maximise: `batch` (samples per step), `hidden` (images) or `d_ff` (text).
enum class Growing : uint8_t { Batch, Hidden, DFf };

struct LargestOptions {
  TrainOptions train;  ///< memory_limit_bytes is required; layout and mesh have one axis, "x"
  Growing growing = Growing::Batch;
  std::vector<int> ranks = {1, 2, 4};
  int steps = 2;           ///< per try; the second step has the optimiser state in use
  int64_t most = 1 << 20;  ///< maximum size tried
};

struct Largest {
  int ranks = 1;
  std::string layout;
  int64_t predicted = 0, found = 0;  ///< sizes; 0: not even the smallest fits
  int64_t planned_bytes = 0;         ///< of `found`, from the plan
  int64_t measured_bytes = 0;        ///< of `found`: peak of the rank that uses most
  std::string refused;               ///< error of the next larger size
};

/// The layout if the options have none: batch:x, hidden1:x, or d_ff:x.
[[nodiscard]] std::string default_layout(Growing growing);

/// Returns one entry per number of ranks; ranks are threads of this process. Sizes are multiples of
/// the number of ranks. After a signal (stop_requested) returns the entries found so far. Errors:
/// Usage, without a memory limit or for an illegal layout.
[[nodiscard]] base::Result<std::vector<Largest>> find_largest(const LargestOptions& options);

/// The results as a text table.
[[nodiscard]] std::string largest_text(const LargestOptions& options,
                                       const std::vector<Largest>& all);

}  // namespace goban::train::trainer
