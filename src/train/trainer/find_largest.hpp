// The largest model, or the largest batch, that trains within the memory of a device, against the
// number of ranks: predicted from plans alone, then found by training a step under the limit.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "train/comm/communicator.hpp"
#include "train/trainer/options.hpp"

namespace goban::train::trainer {

/// What grows: `batch` (samples a step), `hidden` (images) or `d_ff` (text).
enum class Growing : uint8_t { Batch, Hidden, DFf };

struct LargestOptions {
  TrainOptions train;  ///< memory_limit_bytes counts; layout and mesh are for one axis, "x"
  Growing growing = Growing::Batch;
  std::vector<int> ranks = {1, 2, 4};
  int steps = 2;           ///< trained in each try: the second has the optimiser's state in use
  int64_t most = 1 << 20;  ///< sizes beyond are not looked at
};

struct Largest {
  int ranks = 1;
  std::string layout;
  int64_t predicted = 0, found = 0;  ///< sizes; 0: not even one unit fits
  int64_t planned_bytes = 0;         ///< of `found`, by the plan
  int64_t measured_bytes = 0;        ///< of `found`, the peak of the rank that needs most
  std::string refused;               ///< what the next larger size ended with
};

/// The layout looked at when the options name none: batch:x, hidden1:x, or d_ff:x.
[[nodiscard]] std::string default_layout(Growing growing);

/// One entry a number of ranks; ranks are threads of this process. Sizes are multiples of the
/// number of ranks. After a signal (stop_requested) those that were found until then. Errors:
/// Usage, without a memory limit or for an illegal layout.
[[nodiscard]] base::Result<std::vector<Largest>> find_largest(const LargestOptions& options);

/// As a table for people.
[[nodiscard]] std::string largest_text(const LargestOptions& options,
                                       const std::vector<Largest>& all);

}  // namespace goban::train::trainer
