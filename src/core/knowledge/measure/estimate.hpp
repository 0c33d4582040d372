// How long a kernel takes on a GPU, from many short runs: median, and an interval that assumes
// nothing of how runs scatter. The unit is the block: runs of one short process, which share its
// luck (clock, placement in memory), so that they count as one observation.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace goban::core::knowledge {

/// What is measured. The position is the application class that it stands for: A, B, C.
enum class Kernel : uint8_t { Compute, Mixed, Memory };
inline constexpr std::array kKernels{Kernel::Compute, Kernel::Mixed, Kernel::Memory};
inline constexpr size_t kNumKernels = kKernels.size();

/// "compute", "mixed", "memory".
[[nodiscard]] std::string_view kernel_name(Kernel kernel);
[[nodiscard]] std::optional<Kernel> parse_kernel(std::string_view name);

/// The interval holds the true median in at least this share of measurements.
inline constexpr double kIntervalLevel = 0.95;

/// Of one kernel on one GPU in one measurement.
struct TimeEstimate {
  double time_s = 0;  ///< median of the blocks
  /// Interval of kIntervalLevel; both 0 with fewer than 6 blocks, which allow none.
  double low_s = 0;
  double high_s = 0;
  uint32_t blocks = 0;
  [[nodiscard]] bool has_interval() const { return low_s > 0; }
};

/// `block_s`: the median run of each block; at least one, above 0. The interval is that of the
/// order statistics (exact for independent blocks of any continuous distribution).
[[nodiscard]] TimeEstimate estimate_time(std::span<const double> block_s);

/// A value that the true median falls short of with a probability of at most `alpha`; nothing if
/// there are too few blocks for so sure a statement (2^-blocks > alpha).
[[nodiscard]] std::optional<double> lower_bound(std::span<const double> block_s, double alpha);

}  // namespace goban::core::knowledge
