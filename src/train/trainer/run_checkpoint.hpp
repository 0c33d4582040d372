// The checkpoint of a run: its position and settings in addition to its variables, and the checks
// before it resumes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "train/trainer/batches.hpp"
#include "train/trainer/folder_lock.hpp"
#include "train/trainer/options.hpp"
#include "train/trainer/training_step.hpp"

namespace goban::train::trainer {

/// The position of a run between two steps.
struct Standing {
  int64_t epoch = 0;                      ///< finished epochs
  int64_t position = 0;                   ///< finished steps of the current epoch
  int64_t step = 0;                       ///< finished steps of the run
  double loss_sum = 0;                    ///< over predictions since the last evaluation
  int64_t loss_samples = 0;               ///< number of these predictions
  std::vector<double> summary_sums = {};  ///< over steps since the last evaluation
  int64_t summary_steps = 0;              ///< steps since the last evaluation
  int64_t skipped = 0;                    ///< of them: their gradients were not finite
  int64_t replaced = 0;  ///< corrupt samples of all parts, since the start of the run
};

/// The checkpoint of a run in its folder. Without a folder nothing is saved or loaded.
class RunCheckpoint {
 public:
  /// `steps` is the number of steps per epoch. `trained` must outlive it.
  RunCheckpoint(const TrainOptions& options, const Batches& batches, int64_t steps,
                TrainingStep& trained);

  /// Reserves the folder for this run and loads the checkpoint into the variables of the run and
  /// returns its position; nullopt if there is none. Collective. Errors: Failed, for a folder that
  /// cannot be created or read, or that another run uses; BadData, if the checkpoint is damaged, of
  /// a run with other settings, or not the same on all ranks.
  [[nodiscard]] base::Result<std::optional<Standing>> resume();
  /// Collective. Errors: Failed, if it cannot be written; the previous checkpoint remains.
  [[nodiscard]] base::Status save(const Standing& standing);
  /// Whether the folder contains a checkpoint.
  [[nodiscard]] bool exists() const;
  /// Bytes of the checkpoint that this rank sees; 0 if it sees none.
  [[nodiscard]] int64_t bytes() const;

 private:
  /// A setting that must equal that of the saved run: key, value, and its name in messages.
  struct Setting {
    std::string key, value, name;
    bool always = true;  ///< false: may be missing, as in checkpoints of release 0.1
  };
  [[nodiscard]] std::vector<Setting> settings() const;
  [[nodiscard]] std::string path() const { return options_.checkpoint + "/checkpoint.goban"; }

  const TrainOptions& options_;
  int64_t train_size_, steps_;
  std::string data_;   // checksum of the training data
  std::string order_;  // Batches::order
  std::optional<FolderLock> lock_;
  TrainingStep& trained_;
};

}  // namespace goban::train::trainer
