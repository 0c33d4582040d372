// goban-train accuracy, scale and tune: runs that are compared with each other, on threads.
#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "train/comm/launcher.hpp"
#include "train/trainer/accuracy.hpp"
#include "train/trainer/program/commands.hpp"
#include "train/trainer/scaling.hpp"
#include "train/trainer/tuning.hpp"

namespace goban::train::trainer {
namespace {

using base::command_line::Command;

constexpr double kPoints = 100;

struct TrialSettings : RunSettings {
  std::vector<std::string> precisions = {"fp32", "bf16", "fp16"};
  ScalingOptions scaling;
  TuneOptions tuning;
  double tolerance_points = 0.5;
  int seeds = 3;
  bool json = false;
};

std::vector<PrecisionChoice> choices_of(const std::vector<std::string>& names) {
  std::vector<PrecisionChoice> out;
  for (const std::string& name : names) {
    const mesh::DType type = name == "bf16"   ? mesh::DType::BF16
                             : name == "fp16" ? mesh::DType::F16
                                              : mesh::DType::F32;
    out.push_back({name, type, name == "tf32", {}});
  }
  return out;
}

/// Prepares the process. Returns 0 or the exit code.
int prepare_trials(TrialSettings& s) {
  if (comm::launched_by_mpi()) {
    return exit_code({base::ErrorCode::Usage,
                      "this command starts its ranks as threads",
                      {},
                      "run it without mpirun"});
  }
  s.tries_half = std::ranges::find(s.precisions, "fp16") != s.precisions.end();
  if (const int code = prepare(s); code != 0) return code;
  s.train.quiet = true;
  s.start.comm.companions = true;
  if (s.tries_half) {
    note_emulated_half(s.train.device);
  }
  if (std::ranges::find(s.precisions, "tf32") != s.precisions.end()) {
    note_tf32(s.train.device);
  }
  return 0;
}

TrialRunner runner_of(const TrialSettings& s) {
  return [&s](const TrainOptions& options, int ranks) {
    RankOptions start = s.start;
    start.threads = ranks;
    return train_on_threads(start, options, s.train.device);
  };
}

int run_accuracy(TrialSettings& s) {
  if (s.precisions.front() != "fp32") s.precisions.insert(s.precisions.begin(), "fp32");
  if (const int code = prepare_trials(s); code != 0) return code;
  const auto choices = choices_of(s.precisions);
  const auto rows = compare_precisions(runner_of(s), s.train, s.start.threads, choices, s.seeds);
  if (!rows) return exit_code(rows.error());
  fmt::print("{}", s.json ? precision_json(*rows) : precision_text(*rows));
  const auto failed = [](const PrecisionRow& row) { return row.trials.empty(); };
  return std::ranges::any_of(*rows, failed) ? 1 : 0;
}

int run_scale(TrialSettings& s) {
  if (const int code = prepare_trials(s); code != 0) return code;
  ScalingOptions& o = s.scaling;
  o.train = s.train;
  o.rule = s.train.lr_scale;
  o.warmup_steps = s.train.optimizer.warmup_steps;
  o.seeds = s.seeds;
  o.tolerance = s.tolerance_points / kPoints;
  const auto result = measure_scaling(runner_of(s), o);
  if (!result) return exit_code(result.error());
  fmt::print("{}", s.json ? scaling_json(*result, o) : scaling_text(*result, o));
  return 0;
}

int run_tune(TrialSettings& s) {
  if (const int code = prepare_trials(s); code != 0) return code;
  TuneOptions& o = s.tuning;
  o.train = s.train;
  o.ranks = s.start.threads;
  o.tolerance = s.tolerance_points / kPoints;
  o.precisions = choices_of(s.precisions);
  o.overlaps = {mesh::Overlap::Buckets};
  const auto result = tune(runner_of(s), o);
  if (!result) return exit_code(result.error());
  fmt::print("{}", s.json ? tune_json(*result) : tune_text(*result));
  return 0;
}

/// Makes what was not given that of a language model. Errors: Usage, for options of image models.
base::Status take_text_defaults(const Command& given, TrainOptions& train) {
  for (const char* option : {"--model", "--hidden"}) {
    if (given.count(option) == 0) continue;
    return base::usage_error(fmt::format("{} is an option of image models, not of lm", option),
                             "the size of a language model is --d-model, --d-ff, --blocks, ...");
  }
  const TrainOptions before = train;
  set_text_defaults(train);
  if (given.count("--batch-size") > 0) train.batch_size = before.batch_size;
  if (given.count("--optimizer") > 0) train.optimizer.kind = before.optimizer.kind;
  if (given.count("--data") == 0) train.data_dir.clear();
  return {};
}

/// Options common to the three commands.
Command* add_trials(Command& program, const std::shared_ptr<TrialSettings>& s, const char* name,
                    const char* help, const std::vector<std::string>& sets) {
  Command* command = program.add_subcommand(name, help);
  add_run_options(*command, *s);
  add_image_options(*command, *s);
  add_feeding_options(*command, *s);
  std::string names = sets.front();
  for (size_t i = 1; i < sets.size(); ++i) names += (i + 1 < sets.size() ? ", " : " or ") + sets[i];
  command->add_option("SET", s->train.task, names)->one_of(sets);
  whole_from(command->add_option("--hidden", s->train.hidden, "Size of the two hidden layers"), 1);
  from_zero(command->add_option("--learning-rate", s->train.optimizer.learning_rate,
                                "Learning rate; 0: the optimiser's default"));
  command->add_flag("--json", s->json, "Print JSON only");
  return command;
}

void add_precisions(Command& command, TrialSettings& s) {
  command
      .add_option("--precisions", s.precisions,
                  "Precisions to compare with fp32, such as bf16,fp16")
      ->delimiter(',')
      ->one_of({"fp32", "tf32", "bf16", "fp16"});
}

void add_seeds(Command& command, TrialSettings& s) {
  command.add_option("--seeds", s.seeds, "Number of runs of each, with consecutive seeds")
      ->range(1, 100);
}

void add_batch(Command& command, TrialSettings& s) {
  command.add_option(
      "--layout", s.train.layout,
      "Layout, such as \"batch:x\"; without --mesh the batch is split over the ranks");
  command.add_option("--batch-size", s.train.batch_size, "Samples per step, over all devices")
      ->positive();
}

}  // namespace

void add_trial_commands(Command& program, Action& action) {
  const auto a = std::make_shared<TrialSettings>();
  Command* accuracy =
      add_trials(program, a, "accuracy", "Compare the accuracy of precisions with fp32, over seeds",
                 {"mnist", "fashion", "lm"});
  add_text_options(*accuracy, *a);
  add_precisions(*accuracy, *a);
  add_seeds(*accuracy, *a);
  add_batch(*accuracy, *a);
  accuracy->footer(
      "Example: goban-train accuracy mnist --model mlp --hidden 128 --train-limit 6000 --epochs 2\n"
      "lm is a causal language model on --text, or on the token files of --data.");
  accuracy->callback([=, &action] {
    base::Status fine;
    if (a->train.task == "lm") fine = take_text_defaults(*accuracy, a->train);
    action = [=] { return fine ? run_accuracy(*a) : exit_code(fine.error()); };
  });

  const auto s = std::make_shared<TrialSettings>();
  s->train.lr_scale = LrScale::Linear;
  s->precisions.clear();
  Command* scale = add_trials(program, s, "scale",
                              "Compare numbers of ranks: speed, efficiency and accuracy, with a "
                              "batch that grows and with one that does not",
                              {"mnist", "fashion"});
  add_seeds(*scale, *s);
  whole_from(scale->add_option("--ranks", s->scaling.ranks, "Numbers of ranks, as threads")
                 ->delimiter(','),
             1, kMostThreads);
  scale->add_option("--device-batch", s->scaling.device_batch, "Samples per step on each device")
      ->positive();
  from_zero(scale->add_option("--within-points", s->tolerance_points,
                              "Percentage points below the best accuracy that a batch may have"));
  from_zero(scale->add_option("--target-accuracy", s->scaling.target_accuracy,
                              "Accuracy, 0 to 1, for steps to accuracy; 0: the best less the "
                              "points"));
  scale->footer(
      "--lr-scale applies to batch / device batch here.\n"
      "Example: goban-train scale mnist --model mlp --ranks 1,2,4 --device-batch 50 --epochs 3");
  scale->callback([=, &action] { action = [=] { return run_scale(*s); }; });

  const auto t = std::make_shared<TrialSettings>();
  t->train.train_limit = 6000;
  Command* tuned =
      add_trials(program, t, "tune",
                 "Find batch, precision, overlap and loader threads by short runs, for "
                 "the least time to a loss",
                 {"mnist", "fashion"});
  add_precisions(*tuned, *t);
  add_batch(*tuned, *t);
  whole_from(tuned
                 ->add_option("--batches", t->tuning.batches,
                              "Batches to try; without it half, twice and four times --batch-size")
                 ->delimiter(','),
             1);
  whole_from(tuned
                 ->add_option("--try-loader-threads", t->tuning.loader_threads,
                              "Numbers of loader threads to try; without it 0, 1 and 2 for shards")
                 ->delimiter(','),
             0);
  from_zero(tuned->add_option("--target-loss", t->tuning.target_loss,
                              "Test loss to reach; 0: that of the first run"));
  from_zero(
      tuned->add_option("--within-points", t->tolerance_points,
                        "Percentage points below the first run's accuracy that are accepted"));
  tuned->footer(
      "Example: goban-train tune mnist --model mlp --threads 2 --mesh x:2 --layout batch:x "
      "--epochs 3");
  tuned->callback([=, &action] { action = [=] { return run_tune(*t); }; });
}

}  // namespace goban::train::trainer
