// goban-train sweep: the batch-size experiment on this process's ranks.
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <span>
#include <sys/time.h>

#include "base/shell_word.hpp"
#include "train/comm/launcher.hpp"
#include "train/trainer/program/commands.hpp"
#include "train/trainer/stopping.hpp"
#include "train/trainer/sweep.hpp"
#include "train/trainer/trainer.hpp"
#include "train/trainer/trials.hpp"

namespace goban::train::trainer {
namespace {

using base::command_line::Command;

constexpr int kMostJobs = 256;

struct SweepSettings : RunSettings {
  SweepOptions sweep;
  double largest_limit_mb = 64;
  double stop_after_s = 0;
  std::vector<std::string> controls = {"steps", "schedule"};
};

/// The words quoted for a shell.
std::string command_text(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + base::shell_word(word);
  return out;
}

/// A launcher for all ranks of an MPI job; the first rank decides.
Launcher launcher_on(comm::Communicator& end) {
  Launcher launcher;
  launcher.ranks = end.size();
  launcher.first = end.rank() == 0;
  launcher.train = [&end](const TrainOptions& options) { return train(options, end); };
  launcher.agree = [&end](bool mine) -> base::Result<bool> {
    std::array<int64_t, 1> answer = {mine ? 1 : 0};
    const auto status = end.broadcast(comm::whole_world(end.size()),
                                      std::as_writable_bytes(std::span(answer)), 0, "sweep");
    if (!status) return base::failure(status.error());
    return answer[0] != 0;
  };
  launcher.any = [&end](bool mine) -> base::Result<bool> {
    const auto any = comm::reduced(end, mine ? 1 : 0, comm::Reduction::Max, "sweep: stop?");
    if (!any) return base::failure(any.error());
    return *any != 0;
  };
  launcher.same = [&end](const Facts& facts) { return same_options(end, facts); };
  return launcher;
}

Launcher launcher_on_threads(const RankOptions& start, const std::string& device) {
  Launcher launcher;
  launcher.ranks = start.threads;
  launcher.several_at_once = true;
  launcher.train = [&](const TrainOptions& options) {
    return train_on_threads(start, options, device);
  };
  launcher.same = [](const Facts&) { return base::Status(); };
  launcher.agree = launcher.any = [](bool mine) -> base::Result<bool> { return mine; };
  return launcher;
}

int run(SweepSettings& s) {
  if (const int code = prepare(s); code != 0) return code;
  if (s.stop_after_s > 0) {
    itimerval timer{};
    timer.it_value.tv_sec = static_cast<time_t>(s.stop_after_s);
    timer.it_value.tv_usec =
        static_cast<suseconds_t>((s.stop_after_s - std::floor(s.stop_after_s)) * 1e6);
    (void)setitimer(ITIMER_REAL, &timer, nullptr);
  }
  SweepOptions& w = s.sweep;
  w.train = s.train;
  s.start.runs_at_once = w.jobs;
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
  command->add_option("SET", settings->train.task, "mnist or fashion")
      ->one_of({"mnist", "fashion"});
  whole_from(command->add_option("--batch-size", w.batch_sizes, "Batch sizes")->delimiter(','), 1);
  whole_from(
      command->add_option("--hidden", w.hidden, "Sizes of the two hidden layers, such as 128,512")
          ->delimiter(','),
      1);
  command->add_option("--layout", w.layouts, "Layout; repeat the option for several");
  from_zero(command
                ->add_option("--learning-rate", w.learning_rates,
                             "Learning rates; 0: the optimiser's default")
                ->delimiter(','));
  command
      ->add_option("--seeds", w.seeds,
                   "Number of runs per point, with consecutive seeds from --seed")
      ->positive();
  whole_from(command->add_option("--layout-seeds", w.layout_seeds,
                                 "Number of runs per point for each layout after the first; 0: as "
                                 "many as --seeds"),
             0);
  from_zero(command->add_option("--stop-after-s", settings->stop_after_s,
                                "Stop in order after this number of seconds; the same command "
                                "resumes the sweep; 0: never"),
            kMostSeconds);
  command
      ->add_option("--jobs", w.jobs,
                   "Number of runs at the same time; each takes --threads cores. Small batches "
                   "begin first")
      ->range(1, kMostJobs);
  command->add_flag("--both-orientations", w.both_orientations,
                    "Repeat each layout with the two axes of the mesh exchanged");
  command
      ->add_option("--controls", settings->controls,
                   "Control experiments: steps (equal steps), schedule (equal learning rates), or "
                   "none")
      ->delimiter(',')
      ->one_of({"steps", "schedule", "none"});
  from_zero(command->add_option("--largest-limit-mb", settings->largest_limit_mb,
                                "Memory limit per device, in MB, in the search for the largest "
                                "batch (claim S7); 0: no search"),
            kMostMegabytes);
  whole_from(command
                 ->add_option("--ranks", w.largest_ranks,
                              "Numbers of ranks in the search for the largest batch")
                 ->delimiter(','),
             1, kMostThreads);
  command->add_option("--out", w.out, "Folder for sweep.csv, report.html, run.sh and the runs")
      ->required();
  command->footer(
      "A stopped sweep (Ctrl-C) resumes with the same command.\n"
      "Example: goban-train sweep --batch-size 10,20,50,100,200,250 --epochs 20 --seeds 3 --out s");
  command->callback([=, &action] { action = [=] { return run(*settings); }; });
}

}  // namespace goban::train::trainer
