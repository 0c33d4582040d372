#include "cli/study/simulate_options.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/units.hpp"
#include "cli/site/reading_options.hpp"

namespace goban::cli {

namespace {

/// Options that decide where results go, which runs are made beside this one, or how they are
/// compared; none changes what happens in a run.
constexpr std::array<std::string_view, 11> kOutputOptions = {
    "help",   "out",  "decisions", "threads", "json", "rejects",
    "policy", "html", "backtest",  "warmup",  "quiet"};

void add_input_options(Command& c, study::StudyOptions& options) {
  study::InputFiles& files = options.files;
  c.add_option("--cluster", files.cluster, "Cluster: a TOML file, a preset, or NxM")->required();
  c.add_option("--jobs", files.jobs, "Job history, plain or gzip, or a store; - reads stdin")
      ->required();
  add_reading_options(c, files.reading);
  c.add_option("--scores", files.scores, "PM scores of the GPUs (CSV); all 1 if left out");
  c.add_option("--penalty", files.penalties,
               "Further penalties: class:A=1.16, model:PointNet@8=1.10, level:rack=1.3");
  c.add_option("--job-profile", files.job_profiles,
               "Job profiles (JSON) whose traffic gives the penalty of their model");
  c.add_option("--filler-interarrivals", files.fillers,
               "Repeat the history as filler jobs with these gaps (CSV: k,inter_arrival_s)");
  c.add_option("--accounts", files.accounts,
               "Accounts, shares, hard limits and priority weights of the site (TOML)");
  c.add_option("--incidents", files.incidents, "Node failures and maintenance windows (TOML)");
  c.add_option("--energy", files.energy,
               "What nodes draw: presets (goban energy show; k80,v100 goes by GPU model) or a TOML "
               "file; adds energy figures");
  c.add_option("--colocation", files.colocation,
               "Who was measured beside whom: a co-location history (CSV) or Gavel's throughputs "
               "(JSON)");
  c.add_option("--deadlines", files.deadlines,
               "Deadlines: CSV job,deadline_s; gavel: 1.2, 2 or 10 times the duration; none "
               "(default: those of the history)");
}

void add_policy_options(Command& c, study::StudyOptions& options) {
  c.add_option("--policy", options.policies, "Policies, separated by commas: goban policies")
      ->delimiter(',')
      ->capture_default_str();
  c.add_option("--order", options.order, "Replace the order of every policy");
  c.add_option("--round", options.round_s, "Decide every so many seconds only; 0: at events")
      ->range(0.0, 1e7);
  c.add_option("--restart-cost", options.restart_cost_s,
               "Seconds a relaunched job holds its GPUs idly (default 30; artifact presets 0)")
      ->range(0.0, 1e7);
  c.add_option("--locality-penalty", options.locality_penalty,
               "Slowdown of jobs that span nodes (default 1.0; artifact presets 1.7)")
      ->range(0.001, 1000.0);
  Option* contention =
      c.add_option("--contention", options.contention,
                   "Share of its time that a job spanning racks communicates: such jobs share the "
                   "racks' uplinks and slow each other down (default: no contention)")
          ->range(0.0, 1.0);
  c.add_option("--uplink-ratio", options.uplink_ratio,
               "Bandwidth between racks over that within one (default: as the cluster states)")
      ->range(0.001, 1000.0)
      ->needs(contention);
  c.add_option("--checkpoint-interval", options.checkpoint_interval_s,
               "Seconds between checkpoints; a node failure loses what came after the last")
      ->range(0.0, 1e9)
      ->capture_default_str();
  c.add_option("--prediction-noise", options.prediction_noise_pct,
               "Standard deviation, in percent, of true slowdowns of jobs that share a GPU around "
               "the predicted ones")
      ->range(0.0, 100.0)
      ->capture_default_str();
  c.add_option("--sharing", options.sharing,
               "Settings of policies that share GPUs, as in max_slowdown=1.2,util_max_pct=90: "
               "docs/energy.md")
      ->delimiter(',');
  c.add_option("--seed", options.seed, "Seed of policies that draw")->capture_default_str();
}

void add_output_options(Command& c, study::StudyOptions& options, bool& json) {
  c.add_option("--rejects", options.files.rejects, "Where rejected records go, with reasons");
  c.add_option("--out", options.out,
               "Write DIR/<policy>/jobs.csv, history.csv (can be replayed) and run.json");
  c.add_option("--html", options.html, "Write a report with pictures: one file for a browser");
  c.add_flag("--decisions", options.decisions, "Write DIR/<policy>/decisions.jsonl, too");
  c.add_option("--threads", options.threads, "Policies simulated at a time")
      ->range(1, 1024)
      ->capture_default_str();
  c.add_flag("--json", json, "Print JSON alone");
}

void add_backtest_options(Command& command, study::StudyOptions& options) {
  command
      .add_option_function(
          "--backtest",
          [&options](const std::vector<std::string>& values) {
            options.backtest = values.empty() ? std::string() : values.front();
          },
          "Compare the run of the site's own policy (the first one, if none is named) with the "
          "recorded starts; its error stands beside every gain")
      ->expected(0, 1)
      ->type_name("POLICY");
  command
      .add_option_function(
          "--warmup",
          [&options](const std::vector<std::string>& values) {
            const auto span = base::parse_duration(values.front());
            if (!span) refuse_value("--warmup", span.error().message);
            options.warmup_ns = *span;
          },
          "Simulate, but do not count, the jobs submitted so long after the first one")
      ->type_name("DURATION");
}

}  // namespace

void add_simulate_options(Command& command, study::StudyOptions& options, bool& json) {
  add_input_options(command, options);
  add_policy_options(command, options);
  add_backtest_options(command, options);
  add_output_options(command, options, json);
}

std::vector<std::string> deciding_arguments(const Command& command) {
  std::vector<std::string> arguments;
  for (const auto& [name, value] : command.given()) {
    if (std::ranges::find(kOutputOptions, name) != kOutputOptions.end()) continue;
    arguments.push_back(fmt::format("--{}={}", name, value));
  }
  return arguments;
}

base::Result<study::StudyOptions> restore_options(const study::RunRecord& record,
                                                  const std::string& folder) {
  study::StudyOptions options;
  bool json = false;
  Command command;
  add_simulate_options(command, options, json);
  std::vector<std::string> words{"--policy=" + record.policy};
  words.insert(words.end(), record.arguments.begin(), record.arguments.end());
  if (const std::string problem = command.parse_words(std::move(words)); !problem.empty()) {
    return study::bad_run_record(
        folder, fmt::format("arguments that this program does not take: {}", problem));
  }
  options.policies = {record.policy};
  options.files.keep_rejects = false;
  return options;
}

}  // namespace goban::cli
