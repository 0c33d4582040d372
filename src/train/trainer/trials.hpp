// Training runs that are compared with each other: how they are started, and what they reached.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/statistics/mean_interval.hpp"
#include "train/trainer/options.hpp"
#include "train/trainer/ranks.hpp"

namespace goban::train::trainer {

/// Trains on ranks that are threads of this process. Errors: those of train().
[[nodiscard]] base::Result<std::vector<EpochResult>> train_on_threads(const RankOptions& start,
                                                                      const TrainOptions& options,
                                                                      const std::string& device);

/// One run on so many ranks; `quiet` and `out` are set by the caller.
using TrialRunner =
    std::function<base::Result<std::vector<EpochResult>>(const TrainOptions&, int ranks)>;

/// What a run reached.
struct Trial {
  double accuracy = 0;       ///< on the test set, at the end
  double test_loss = 0;      ///< at the end
  double samples_per_s = 0;  ///< over all intervals
  double train_s = 0;
  int64_t steps = 0;
  std::vector<EpochResult> rows;

  /// Steps until an evaluation had at least this accuracy; nullopt: never.
  [[nodiscard]] std::optional<int64_t> steps_to_accuracy(double wanted) const;
  /// Seconds of training until an evaluation had at most this loss; nullopt: never.
  [[nodiscard]] std::optional<double> seconds_to_loss(double wanted) const;
  /// The accuracy at that evaluation, otherwise at the end.
  [[nodiscard]] double accuracy_at_loss(double wanted) const;
};
/// `rows` must not be empty.
[[nodiscard]] Trial trial_of(std::vector<EpochResult> rows);

/// The runs of one setting, by seed.
[[nodiscard]] base::statistics::MeanInterval accuracy_of(const std::vector<Trial>& trials);
/// Differences of the accuracies, paired by seed. Both must have as many runs.
[[nodiscard]] base::statistics::MeanInterval accuracy_difference(const std::vector<Trial>& trials,
                                                                 const std::vector<Trial>& base);
/// "+0.12 +- 0.30" in percentage points; the interval is "?" for a single run.
[[nodiscard]] std::string points_text(const base::statistics::MeanInterval& difference);
[[nodiscard]] double samples_per_s_of(const std::vector<Trial>& trials);  ///< mean

/// Some steps that are not measured: the first run of a process would pay for files that are read,
/// memory that is allocated and libraries that start. Errors: those of the runner.
[[nodiscard]] base::Status warm_up(const TrialRunner& run, TrainOptions options, int ranks);

/// Runs `options` with `seeds` consecutive seeds. Errors: those of the runner; Failed, if a signal
/// stopped a run.
[[nodiscard]] base::Result<std::vector<Trial>> run_seeds(const TrialRunner& run,
                                                         TrainOptions options, int ranks,
                                                         int seeds);

}  // namespace goban::train::trainer
