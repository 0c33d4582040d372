// What a run saves beside its variables, and what it may go on from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "train/trainer/options.hpp"
#include "train/trainer/training_step.hpp"

namespace goban::train::trainer {

/// Where a run stands between two steps.
struct Standing {
  int64_t epoch = 0;                      ///< epochs that are over
  int64_t position = 0;                   ///< steps done of the one in progress
  int64_t step = 0;                       ///< steps done of the run
  double loss_sum = 0;                    ///< over predictions since the last evaluation
  int64_t loss_samples = 0;               ///< how many these were
  std::vector<double> summary_sums = {};  ///< over steps since the last evaluation
  int64_t summary_steps = 0;
};

/// The checkpoint of a run in its folder; without a folder nothing is saved or found.
class RunCheckpoint {
 public:
  /// `train_size` samples are `steps` steps an epoch. `trained` must outlive it.
  RunCheckpoint(const TrainOptions& options, int64_t train_size, int64_t steps,
                TrainingStep& trained);

  /// The standing of the checkpoint, whose variables are then those of the run; nothing if there is
  /// none. Collective. Errors: Failed, for a folder that cannot be made or read; BadData, if it is
  /// damaged, of a run with other settings, or not the same on all ranks.
  [[nodiscard]] base::Result<std::optional<Standing>> resume();
  /// Collective. Errors: Failed, if it cannot be written; the one before stays.
  [[nodiscard]] base::Status save(const Standing& standing);

 private:
  /// What must not differ from the run that saved it: its key, its value, and its name for people.
  struct Setting {
    std::string key, value, name;
    bool always = true;  ///< else it is missing from checkpoints of release 0.1
  };
  [[nodiscard]] std::vector<Setting> settings() const;
  [[nodiscard]] std::string path() const { return options_.checkpoint + "/checkpoint.goban"; }

  const TrainOptions& options_;
  int64_t train_size_, steps_;
  TrainingStep& trained_;
};

}  // namespace goban::train::trainer
