// The commands of goban-train. Each parses its own arguments and calls the trainer.
#pragma once

#include <string>
#include <vector>

#include "train/trainer/program/settings.hpp"

namespace goban::train::trainer {

/// The commands mnist and fashion, which have the same options.
void add_image_training(base::command_line::Command& program, Action& action,
                        const std::string& task, const std::string& help,
                        const std::string& footer);
/// The command lm.
void add_text_training(base::command_line::Command& program, Action& action);
/// The command sweep. `words` is the command line, for the script that repeats it.
void add_sweep(base::command_line::Command& program, Action& action,
               const std::vector<std::string>& words);
/// The commands accuracy, scale and tune.
void add_trial_commands(base::command_line::Command& program, Action& action);
/// The command doctor.
void add_train_doctor(base::command_line::Command& program, Action& action);
/// The command data.
void add_data(base::command_line::Command& program, Action& action);
/// The commands of `data` that pack, check and read shards.
void add_shard_commands(base::command_line::Command& data, Action& action);

}  // namespace goban::train::trainer
