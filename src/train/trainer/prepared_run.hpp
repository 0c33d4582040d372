// What a run has before its first step: graphs laid out over the ranks, their memory, and batches.
#pragma once

#include <memory>

#include "train/mesh/device_memory.hpp"
#include "train/trainer/batches.hpp"
#include "train/trainer/evaluation.hpp"
#include "train/trainer/training_step.hpp"

namespace goban::train::trainer {

struct PreparedRun {
  std::unique_ptr<mesh::DeviceMemory> memory{};
  std::unique_ptr<TrainingStep> whole{};  ///< for whole batches
  std::unique_ptr<TrainingStep> last{};   ///< for the smaller one at the end of an epoch; or null
  std::unique_ptr<Batches> batches{};
  std::unique_ptr<Evaluation> evaluation{};
  int64_t whole_steps = 0;  ///< of an epoch
  int64_t steps = 0;        ///< of an epoch, with the smaller one
  double predicted_s = 0;   ///< of a step, by the planner; 0 if the layout was given
  bool stopped = false;     ///< by a signal, before a layout was chosen; nothing else is there then
};

/// Builds the graphs, chooses and checks the layout, opens the data, and compares options, plan and
/// data of all ranks. Rank 0 prints warnings, unless quiet. With `options.explain` it prints the
/// plan, and nothing is prepared. Collective. Errors: those of options, layout, memory and data.
[[nodiscard]] base::Result<PreparedRun> prepare_run(const TrainOptions& options,
                                                    comm::Communicator& end);

}  // namespace goban::train::trainer
