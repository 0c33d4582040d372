// Scores of a machine's GPUs from the measurement log, with stragglers, changes and expired scores.
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

/// A GPU and its present condition.
struct GpuNow {
  std::string uuid{};
  GpuCondition condition{};
};

/// Score of a GPU for one kernel.
struct KernelScore {
  double score = 1;             ///< time / time of the median GPU, as for PM scores
  std::optional<double> low{};  ///< interval of kIntervalLevel; median taken as exact
  std::optional<double> high{};
  /// The GPU is at least kStragglerScore times as slow as the median GPU. The probability that a
  /// measurement of a machine has any false straggler is at most kStragglerErrors.
  bool straggler = false;
  /// The last change of the GPU's own time among the valid measurements.
  std::optional<Change> change{};
  int64_t changed_unix_s = 0;  ///< date of the first measurement of the new level
  bool change_is_new = false;  ///< found at the last measurement
  /// Time / time of the previous measurement; 1 if there was none.
  double against_last = 1;
};

/// Lower bound of the score of a straggler.
inline constexpr double kStragglerScore = 1.05;
inline constexpr double kStragglerErrors = 0.01;

struct GpuScores {
  /// No valid measurement: none at all, too old, or under another driver, firmware or kernel
  /// version. All scores are then 1.
  bool expired = true;
  size_t expired_sessions = 0;       ///< too old, or measured under another condition than now
  const GpuSession* last = nullptr;  ///< points into the log; null if expired
  size_t sessions = 0;               ///< number of valid ones
  std::array<KernelScore, kNumKernels> kernels{};
};

struct MachineScores {
  std::vector<GpuScores> gpus{};  ///< in the order of the query
  /// Standard deviation of log(time) between measurements, by kernel.
  std::array<double, kNumKernels> sigma{};
};

/// Age at which a measurement expires.
inline constexpr int64_t kScoreAgeMax_s = int64_t{30} * 24 * 3600;

/// Scores are based on the last valid measurement of each GPU, changes on all valid ones. At
/// `now_unix_s`, measurements older than kScoreAgeMax_s have expired; 0 = measurements do not age.
[[nodiscard]] MachineScores scores_of(const MeasureBook& book, std::span<const GpuNow> gpus,
                                      int64_t now_unix_s = 0, const ChangeOptions& options = {});

/// [class][gpu], for the score table.
[[nodiscard]] std::vector<std::vector<double>> raw_by_class(const MachineScores& scores);

}  // namespace goban::core::knowledge
