// Time of a kernel on a GPU from many short runs: median and a distribution-free confidence
// interval. The observation is the block: the runs of one short process, which share clock and
// memory placement and are therefore not independent.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace goban::core::knowledge {

/// The measured kernels. The index is the application class that a kernel represents: A, B, C.
enum class Kernel : uint8_t { Compute, Mixed, Memory };
inline constexpr std::array kKernels{Kernel::Compute, Kernel::Mixed, Kernel::Memory};
inline constexpr size_t kNumKernels = kKernels.size();

/// "compute", "mixed", "memory".
[[nodiscard]] std::string_view kernel_name(Kernel kernel);
[[nodiscard]] std::optional<Kernel> parse_kernel(std::string_view name);

/// Confidence level of intervals.
inline constexpr double kIntervalLevel = 0.95;

/// Result for one kernel on one GPU in one measurement.
struct TimeEstimate {
  double time_s = 0;  ///< median of the blocks
  /// Confidence interval of kIntervalLevel; both 0 with fewer than 6 blocks, which are too few.
  double low_s = 0;
  double high_s = 0;
  uint32_t blocks = 0;
  [[nodiscard]] bool has_interval() const { return low_s > 0; }
};

/// `block_s`: the median run of each block; at least one, above 0. The interval is based on order
/// statistics (exact for independent blocks of any continuous distribution).
[[nodiscard]] TimeEstimate estimate_time(std::span<const double> block_s);

/// One-sided lower confidence bound of the true median at level 1 - `alpha`; nullopt if there are
/// too few blocks (2^-blocks > alpha).
[[nodiscard]] std::optional<double> lower_bound(std::span<const double> block_s, double alpha);

}  // namespace goban::core::knowledge
