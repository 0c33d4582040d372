// goban-train: mesh training runs. Adds the commands, parses the command line and runs the selected
// command; no other logic.
#include <new>

#include "train/trainer/memory_policy.hpp"
#include "train/trainer/program/commands.hpp"
#include "train/trainer/ranks.hpp"

int main(int argc, char** argv) {
  using namespace goban::train::trainer;
  keep_memory();
  Action action;
  goban::base::command_line::Command program(
      "Train models on a mesh of devices. The layout is one line of text.");
  program.name("goban-train");
  program.require_subcommand(1);
  program.set_version_flag("--version", "goban-train " GOBAN_VERSION);
  program.show_defaults();
  add_image_training(program, action, "mnist", "Train on MNIST (handwritten digits)",
                     "Example: goban-train mnist --threads 4 --mesh \"rows:2;cols:2\" "
                     "--layout \"batch:rows;hidden1:cols\"\nDimensions to split: batch, "
                     "row_blocks, col_blocks, hidden1, hidden2; with --model mlp: batch, pixels, "
                     "hidden1, hidden2");
  add_image_training(program, action, "fashion", "Train on Fashion-MNIST (clothing)",
                     "Example: mpirun -n 2 goban-train fashion --mesh x:2 --layout batch:x");
  add_text_training(program, action);
  add_sweep(program, action, {argv, argv + argc});
  add_trial_commands(program, action);
  add_data(program, action);
  add_train_doctor(program, action);
  program.footer(
      "Examples:\n  goban-train data fetch mnist\n  goban-train mnist --batch-size 250 --epochs 2\n"
      "  mpirun -n 4 goban-train lm --layout auto\nRun `goban-train COMMAND --help` for the "
      "options of a command.");
  if (const int code = program.parse(argc, argv); code >= 0) return code;
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return exit_code({goban::base::ErrorCode::Failed, "out of memory", {}, ""});
  }
}
