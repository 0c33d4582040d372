// Scores of a machine's GPUs from the book of measurements, and what stands out: stragglers,
// changes, scores that have expired.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/knowledge/measure/change_point.hpp"
#include "core/knowledge/measure/measure_book.hpp"

namespace goban::core::knowledge {

/// A GPU as it is now.
struct GpuNow {
  std::string uuid{};
  GpuCondition condition{};
};

/// How a GPU does one kind of work.
struct KernelScore {
  double score = 1;             ///< time / time of the median GPU, as PM scores
  std::optional<double> low{};  ///< interval of kIntervalLevel, the fleet's median taken as known
  std::optional<double> high{};
  /// It is at least kStragglerScore times as slow as the median GPU. The probability that a
  /// measurement of a machine names any GPU wrongly is at most kStragglerErrors.
  bool straggler = false;
  /// The last change among the valid measurements, of the GPU's own time, whatever others do.
  std::optional<Change> change{};
  int64_t changed_unix_s = 0;  ///< date of the first measurement of the new level
  bool change_is_new = false;  ///< found with the last measurement
  /// Time / time of the measurement before; 1 = the same, or there was none.
  double against_last = 1;
};

/// Also nearest score at which a GPU may be called a straggler.
inline constexpr double kStragglerScore = 1.05;
inline constexpr double kStragglerErrors = 0.01;

struct GpuScores {
  /// Nothing valid: never measured, or too long ago, or all under another driver, firmware or
  /// kernel version. All scores are 1 then.
  bool expired = true;
  size_t expired_sessions = 0;       ///< too old, or measured under another condition than now
  const GpuSession* last = nullptr;  ///< valid as long as the book; null if expired
  size_t sessions = 0;               ///< valid ones
  std::array<KernelScore, kNumKernels> kernels{};
};

struct MachineScores {
  std::vector<GpuScores> gpus{};  ///< as asked for
  /// sigma of log(time) between measurements, by kernel.
  std::array<double, kNumKernels> sigma{};
};

/// A measurement says nothing any more after so long.
inline constexpr int64_t kScoreAgeMax_s = int64_t{30} * 24 * 3600;

/// Scores rest on the last valid measurement of each GPU, changes on all valid ones. `now_unix_s`:
/// what was measured kScoreAgeMax_s before has expired; 0 = measurements do not age.
[[nodiscard]] MachineScores scores_of(const MeasureBook& book, std::span<const GpuNow> gpus,
                                      int64_t now_unix_s = 0, const ChangeOptions& options = {});

/// [class][gpu], for the score table.
[[nodiscard]] std::vector<std::vector<double>> raw_by_class(const MachineScores& scores);

}  // namespace goban::core::knowledge
