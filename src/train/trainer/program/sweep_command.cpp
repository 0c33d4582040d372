// goban-train sweep: the batch-size experiment on this process's ranks.
#include <array>
#include <fmt/format.h>
#include <memory>
#include <span>

#include "train/comm/launcher.hpp"
#include "train/trainer/program/commands.hpp"
#include "train/trainer/sweep.hpp"
#include "train/trainer/trainer.hpp"

namespace goban::train::trainer {
namespace {

using base::command_line::Command;

struct SweepSettings : RunSettings {
  SweepOptions sweep;
  double largest_limit_mb = 64;
  std::vector<std::string> controls = {"steps", "schedule"};
};

/// The words quoted for a shell.
std::string command_text(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    const bool plain =
        !word.empty() && word.find_first_of(" ;\"'$&|<>()*?\\`") == std::string::npos;
    out += (out.empty() ? "" : " ") + (plain ? word : "'" + word + "'");
  }
  return out;
}

base::Result<std::vector<EpochResult>> train_on_threads(const RankOptions& start,
                                                        const TrainOptions& options,
                                                        const std::string& device) {
  std::vector<EpochResult> out;
  const auto status = on_each_thread(start, device, [&](comm::Communicator& end) -> base::Status {
    const auto result = train(options, end);
    if (!result) return base::failure(result.error());
    if (end.rank() == 0) out = *result;
    return {};
  });
  if (!status) return base::failure(status.error());
  return out;
}

/// A launcher for all ranks of an MPI job; the first rank decides.
Launcher launcher_on(comm::Communicator& end) {
  const auto told = [](const base::Status& status, int64_t answer) -> base::Result<bool> {
    if (!status) return base::failure(status.error());
    return answer != 0;
  };
  Launcher launcher;
  launcher.ranks = end.size();
  launcher.first = end.rank() == 0;
  launcher.train = [&end](const TrainOptions& options) { return train(options, end); };
  launcher.agree = [&end, told](bool mine) {
    std::array<int64_t, 1> answer = {mine ? 1 : 0};
    const auto status = end.broadcast(comm::whole_world(end.size()),
                                      std::as_writable_bytes(std::span(answer)), 0, "sweep");
    return told(status, answer[0]);
  };
  launcher.any = [&end, told](bool mine) {
    std::array<int64_t, 1> answer = {mine ? 1 : 0};
    const auto status =
        end.all_reduce(comm::whole_world(end.size()), std::as_writable_bytes(std::span(answer)),
                       comm::Element::I64, comm::Reduction::Max, "sweep: stop?");
    return told(status, answer[0]);
  };
  return launcher;
}

Launcher launcher_on_threads(const RankOptions& start, const std::string& device) {
  Launcher launcher;
  launcher.ranks = start.threads;
  launcher.train = [&](const TrainOptions& options) {
    return train_on_threads(start, options, device);
  };
  launcher.agree = launcher.any = [](bool mine) -> base::Result<bool> { return mine; };
  return launcher;
}

int run(SweepSettings& s) {
  if (const int code = prepare(s); code != 0) return code;
  SweepOptions& w = s.sweep;
  w.train = s.train;
  w.largest_limit_bytes = static_cast<int64_t>(s.largest_limit_mb * 1e6);
  w.controls.clear();
  for (const std::string& each : s.controls) {
    if (each == "steps") w.controls.push_back(Control::EqualSteps);
    if (each == "schedule") w.controls.push_back(Control::EqualSchedule);
  }
  if (comm::launched_by_mpi()) {
    return on_mpi(s.start, s.train.device, [&](comm::Communicator& end) -> base::Status {
      const auto result = run_sweep(w, launcher_on(end));
      if (!result) return base::failure(result.error());
      return {};
    });
  }
  const auto result = run_sweep(w, launcher_on_threads(s.start, s.train.device));
  if (!result) return exit_code(result.error());
  fmt::print("{}/report.html\n", w.out);
  return 0;
}

}  // namespace

void add_sweep(Command& program, Action& action, const std::vector<std::string>& words) {
  const auto settings = std::make_shared<SweepSettings>();
  SweepOptions& w = settings->sweep;
  w.command = command_text(words);
  Command* command = program.add_subcommand(
      "sweep", "Run the batch-size experiment: a grid of runs with several seeds, and a report");
  add_run_options(*command, *settings);
  add_image_options(*command, *settings);
  command->add_option("set", settings->train.task, "mnist or fashion (default mnist)")
      ->one_of({"mnist", "fashion"});
  command->add_option("--batch-size", w.batch_sizes, "Batch sizes (default 10,20,50,100,200,250)")
      ->delimiter(',');
  command
      ->add_option("--hidden", w.hidden,
                   "Sizes of the two hidden layers, such as 128,512 (default 512)")
      ->delimiter(',');
  command->add_option("--layout", w.layouts, "Layout; repeat the option for several");
  from_zero(command
                ->add_option("--learning-rate", w.learning_rates,
                             "Learning rates; 0: the optimiser's default (default 0)")
                ->delimiter(','));
  command
      ->add_option("--seeds", w.seeds,
                   "Number of runs per point, with consecutive seeds from --seed (default 3)")
      ->positive();
  command->add_flag("--both-orientations", w.both_orientations,
                    "Repeat each layout with the two axes of the mesh exchanged");
  command
      ->add_option("--controls", settings->controls,
                   "Control experiments: steps (equal steps), schedule (equal learning rates), or "
                   "none (default "
                   "steps,schedule)")
      ->delimiter(',')
      ->one_of({"steps", "schedule", "none"});
  command->add_option(
      "--largest-limit-mb", settings->largest_limit_mb,
      "Memory limit per device, in MB, in the search for the largest batch (claim S7); 0: no "
      "search (default 64)");
  command
      ->add_option("--ranks", w.largest_ranks,
                   "Numbers of ranks in the search for the largest batch (default 1,2,4)")
      ->delimiter(',');
  command->add_option("--out", w.out, "Folder for sweep.csv, report.html, run.sh and the runs")
      ->required();
  command->footer(
      "A stopped sweep (Ctrl-C) resumes with the same command.\n"
      "Example: goban-train sweep --batch-size 10,20,50,100,200,250 --epochs 20 --seeds 3 --out s");
  command->callback([=, &action] { action = [=] { return run(*settings); }; });
}

}  // namespace goban::train::trainer
