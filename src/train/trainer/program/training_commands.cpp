// goban-train mnist, fashion and lm: one run, the comparison of its layouts, or the search for the
// largest model.
#include <fmt/format.h>
#include <memory>

#include "base/number.hpp"
#include "train/comm/launcher.hpp"
#include "train/trainer/compare_layouts.hpp"
#include "train/trainer/find_largest.hpp"
#include "train/trainer/program/commands.hpp"
#include "train/trainer/stopping.hpp"
#include "train/trainer/trainer.hpp"

namespace goban::train::trainer {
namespace {

using base::command_line::Command;

struct TrainingSettings : RunSettings {
  double memory_limit_mb = 0;
  std::string growing;   // --find-largest
  int64_t compared = 0;  // --compare-layouts
  std::vector<int> ranks = {1, 2, 4};
};

void add_training_options(Command& command, TrainingSettings& s) {
  TrainOptions& t = s.train;
  add_run_options(command, s);
  add_feeding_options(command, s);
  command.add_option("--layout", t.layout,
                     "Layout, such as \"batch:rows;hidden1:cols\", or auto: chosen by the planner; "
                     "without it: nothing is split on --mesh");
  command.add_option("--costs", t.costs,
                     "Costs with which the planner predicts, as text or in a file, such as "
                     "\"latency_s=2e-5;s_per_byte=1e-10;flops_per_s=1e12;bytes_per_s=1e11\"; "
                     "without it they are measured on the ranks of the run");
  command.add_option("--batch-size", t.batch_size, "Samples per step, over all devices")
      ->positive();
  from_zero(
      command.add_option("--learning-rate", t.optimizer.learning_rate,
                         "Learning rate; 0: the optimiser's default (adafactor: its schedule)"));
  command.add_option("--checkpoint", t.checkpoint, "Folder to save checkpoints to and resume from");
  command.add_option("--out", t.out, "Folder for metrics.csv, metrics.prom and profile.json");
  command.add_flag(
      "--summaries", t.summaries,
      "Add norms of gradients and parameters, and the model's summaries, to the metrics");
  from_zero(command.add_option("--memory-limit-mb", s.memory_limit_mb,
                               "Memory limit per device in MB (10^6 bytes), enforced; 0: none"),
            kMostMegabytes);
  command.add_flag("--explain-layout", t.explain,
                   "Print the split, collectives and bytes of each operation, and exit");
  command
      .add_option(
          "--compare-layouts", s.compared,
          "Train some steps under each of the planner's best N layouts; print predicted and "
          "measured times")
      ->positive();
  command
      .add_option("--find-largest", s.growing,
                  "Find the largest batch, hidden (images) or d_ff (lm) that trains within "
                  "--memory-limit-mb, for each number of --ranks; the mesh has one axis, x")
      ->one_of({"batch", "hidden", "d_ff"});
  whole_from(
      command.add_option("--ranks", s.ranks, "Numbers of ranks for --find-largest, such as 1,2,4")
          ->delimiter(','),
      1, kMostThreads);
}

int run_training(const TrainingSettings& s) {
  return on_ranks(s, [&](comm::Communicator& end) -> base::Status {
    const auto result = train(s.train, end);
    if (!result) return base::failure(result.error());
    return {};
  });
}

int run_comparison(const TrainingSettings& s) {
  return on_ranks(s, [&](comm::Communicator& end) -> base::Status {
    const auto compared = compare_layouts(s.train, s.compared, end);
    if (!compared) return base::failure(compared.error());
    if (end.rank() != 0) return {};
    if (!compared->layouts.empty()) fmt::print("{}", comparison_text(*compared));
    if (compared->stopped) {
      fmt::print(stderr, "stopped after comparing {} layouts\n", compared->layouts.size());
    }
    return {};
  });
}

int run_find_largest(const TrainingSettings& s) {
  if (comm::launched_by_mpi()) {
    return exit_code({base::ErrorCode::Usage,
                      "--find-largest starts its ranks as threads",
                      {},
                      "run it without mpirun"});
  }
  LargestOptions options;
  options.train = s.train;
  options.ranks = s.ranks;
  options.growing = s.growing == "batch"    ? Growing::Batch
                    : s.growing == "hidden" ? Growing::Hidden
                                            : Growing::DFf;
  const auto largest = find_largest(options);
  if (!largest) return exit_code(largest.error());
  if (!largest->empty()) fmt::print("{}", largest_text(options, *largest));
  if (stop_requested) {
    fmt::print(stderr, "stopped after {} of {} numbers of ranks\n", largest->size(),
               options.ranks.size());
  }
  return 0;
}

int run(TrainingSettings& s) {
  s.train.memory_limit_bytes = static_cast<int64_t>(s.memory_limit_mb * 1e6);
  if (const int code = prepare(s); code != 0) return code;
  if (s.compared > 0) return run_comparison(s);
  return s.growing.empty() ? run_training(s) : run_find_largest(s);
}

}  // namespace

void add_image_training(Command& program, Action& action, const std::string& task,
                        const std::string& help, const std::string& footer) {
  const auto settings = std::make_shared<TrainingSettings>();
  settings->train.task = task;
  Command* command = program.add_subcommand(task, help);
  add_training_options(*command, *settings);
  add_image_options(*command, *settings);
  whole_from(
      command->add_option("--hidden", settings->train.hidden, "Size of the two hidden layers"), 1);
  command->footer(footer);
  command->callback([=, &action] { action = [=] { return run(*settings); }; });
}

void add_text_training(Command& program, Action& action) {
  const auto settings = std::make_shared<TrainingSettings>();
  TrainOptions& train = settings->train;
  train.task = "lm";
  set_text_defaults(train);
  train.data_dir.clear();
  Command* command =
      program.add_subcommand("lm", "Train a Transformer language model on bytes of text");
  add_training_options(*command, *settings);
  add_text_options(*command, *settings);
  command->add_option("--data", train.data_dir,
                      "Token files (.bin) instead of texts: paths with braces and ::");
  command->add_flag_callback(
      "--masked", [=] { settings->train.model = "masked"; },
      "Masked language model instead of a causal one");
  command->footer(
      "Example: mpirun -n 4 goban-train lm --mesh \"data:2;model:2\" "
      "--layout \"batch:data;heads:model;d_ff:model;vocab:model\"\nDimensions to split: batch, "
      "heads, d_ff, vocab, length");
  command->callback([=, &action] { action = [=] { return run(*settings); }; });
}

}  // namespace goban::train::trainer
