#include "cli/study/simulate_options.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/units.hpp"
#include "cli/site/reading_options.hpp"

namespace goban::cli {

namespace {

/// Options that select outputs, the other runs, or the comparison; none of them changes what
/// happens in a run.
constexpr std::array<std::string_view, 14> kOutputOptions = {
    "help", "out",      "decisions", "threads", "json",        "rejects", "policy",
    "html", "backtest", "warmup",    "quiet",   "max-rejects", "prices",  "seeds"};

void add_input_options(Command& c, study::StudyOptions& options) {
  study::InputFiles& files = options.files;
  c.add_option("--cluster", files.cluster, "Cluster: TOML file, preset or NxM")->required();
  c.add_option("--jobs", files.jobs,
               "Job history, plain or gzip, or a history store; - for standard input")
      ->required();
  add_reading_options(c, files.reading);
  c.add_option("--scores", files.scores, "PM scores of the GPUs (CSV; default: all 1)")
      ->type_name("FILE");
  c.add_option("--penalty", files.penalties,
               "Locality penalties by class, model or level: class:A=1.16, model:PointNet@8=1.10, "
               "level:rack=1.3");
  c.add_option("--job-profile", files.job_profiles,
               "Job profiles (JSON); the traffic of a model determines its locality penalty")
      ->type_name("FILE");
  c.add_option(
       "--filler-interarrivals", files.fillers,
       "Append the history as filler jobs with these inter-arrival times (CSV: k,inter_arrival_s)")
      ->type_name("FILE");
  c.add_option("--accounts", files.accounts,
               "Accounts, shares, hard limits and priority weights of the site (TOML file)")
      ->type_name("FILE");
  c.add_option("--incidents", files.incidents, "Node failures and maintenance windows (TOML file)")
      ->type_name("FILE");
  c.add_option("--spot-supply", files.spot_supply,
               "Spot instances over time (JSON of spot-traces): opens and closes the nodes of a "
               "group, a GPU model or first..last, from the first submission on")
      ->type_name("FILE:GROUP");
  c.add_option("--energy", files.energy,
               "Power models of the nodes: presets (see goban energy show; k80,v100 selects by GPU "
               "model) or a TOML file; adds energy figures");
  c.add_option("--colocation", files.colocation,
               "Measured slowdowns of co-located jobs: co-location history (CSV) or Gavel's "
               "throughputs (JSON)")
      ->type_name("FILE");
  c.add_option("--deadlines", files.deadlines,
               "Deadlines: a CSV file with job,deadline_s; gavel: 1.2, 2 or 10 times the duration; "
               "none (default: those of the history)");
  Option* rates =
      c.add_option("--rates", files.rates,
                   "Steps per second of elastic jobs (CSV: model,batch_size,gpu_model,num_gpus,"
                   "steps_per_s); of the jobs of formats shockwave, elasticflow")
          ->type_name("FILE");
  c.add_flag("--interpolate-rates", files.interpolate_rates,
             "With --rates: jobs also run on numbers of GPUs between measured ones, at "
             "interpolated speeds, which the results mark")
      ->needs(rates);
  Option* prices = c.add_option("--prices", files.prices,
                                "Prices of electricity, carbon and GPU-hours (TOML file); adds the "
                                "value of each policy per year")
                       ->type_name("FILE");
  c.add_option("--seeds", options.seeds,
               "With --prices: number of simulated resamples of the history's days, for confidence "
               "intervals")
      ->range(0, 1000)
      ->capture_default_str()
      ->needs(prices);
}

void add_policy_options(Command& c, study::StudyOptions& options) {
  c.add_option("--policy", options.policies, "Policies, separated by commas (see goban policies)")
      ->delimiter(',')
      ->capture_default_str();
  c.add_option("--plugin", options.plugins,
               "Shared library with further policies, written in C++ or C (docs/lab.md)")
      ->type_name("FILE");
  c.add_option("--order", options.order, "Replace the order of every policy");
  c.add_option(
       "--round", options.round_s,
       "Decide every N seconds only; 0: at events (default 0; non-sticky policies and artifact "
       "presets 360)")
      ->type_name("SECONDS")
      ->range(0.0, 1e7);
  c.add_option("--restart-cost", options.restart_cost_s,
               "Seconds that a relaunched job holds its GPUs without progress (default 30; "
               "artifact presets 0)")
      ->type_name("SECONDS")
      ->range(0.0, 1e7);
  c.add_option("--locality-penalty", options.locality_penalty,
               "Slowdown of jobs that span nodes (default 1.0; artifact presets 1.7)")
      ->range(0.001, 1000.0);
  Option* contention =
      c.add_option("--contention", options.contention,
                   "Share of time that a job communicates; jobs that span racks share the racks' "
                   "uplinks and slow each other down (default: no contention)")
          ->range(0.0, 1.0);
  c.add_option(
       "--uplink-ratio", options.uplink_ratio,
       "Bandwidth between racks / bandwidth within a rack (default: as in the cluster description)")
      ->range(0.001, 1000.0)
      ->needs(contention);
  c.add_option("--checkpoint-interval", options.checkpoint_interval_s,
               "Seconds between checkpoints; a node failure loses the progress since the last one")
      ->type_name("SECONDS")
      ->range(0.0, 1e9)
      ->capture_default_str();
  c.add_flag("--preemption-loses-work", options.preemption_loses_work,
             "A preempted job falls back to its last checkpoint, as after a failure (default: it "
             "saves its progress first)");
  c.add_option("--preemptible", options.files.preemptible_share,
               "Share of the jobs that may be preempted, drawn by --seed (default: as the history "
               "says, otherwise all)")
      ->range(0.0, 1.0);
  c.add_option("--prediction-noise", options.prediction_noise_pct,
               "Standard deviation, in percent, of the true slowdowns of co-located jobs around "
               "the predicted ones")
      ->range(0.0, 100.0)
      ->capture_default_str();
  c.add_option("--sharing,--set", options.sharing,
               "Settings of policies, such as max_slowdown=1.2,util_max_pct=90 of those that share "
               "GPUs (docs/energy.md), or late_bound_s=600 (docs/simulate.md)")
      ->delimiter(',');
  c.add_option("--seed", options.seed, "Seed of policies with random decisions")
      ->capture_default_str();
}

void add_output_options(Command& c, study::StudyOptions& options, bool& json) {
  c.add_option("--rejects", options.files.rejects, "File for rejected records, with reasons")
      ->type_name("FILE");
  add_max_rejects(c, options.files.max_rejects_pct);
  c.add_option("--out", options.out,
               "Output folder: DIR/<policy>/jobs.csv, history.csv (can be replayed) and run.json")
      ->type_name("DIR");
  c.add_option("--html", options.html, "Write a report with charts to this HTML file")
      ->type_name("FILE");
  c.add_flag("--decisions", options.decisions, "Also write DIR/<policy>/decisions.jsonl");
  c.add_option("--threads", options.threads, "Number of policies simulated in parallel")
      ->range(1, 1024)
      ->capture_default_str();
  c.add_flag("--json", json, "Print JSON only");
}

void add_backtest_options(Command& command, study::StudyOptions& options) {
  command
      .add_option_function(
          "--backtest",
          [&options](const std::vector<std::string>& values) {
            options.backtest = values.empty() ? std::string() : values.front();
          },
          "Compare the simulation of the site's own policy (default: the first one) with the "
          "recorded start times; its error is printed next to every gain")
      ->expected(0, 1)
      ->type_name("POLICY");
  command.add_flag(
      "--start-forecasts", options.start_forecasts,
      "Forecast the starts of jobs that wait, as a live scheduler would, and print how "
      "many start in the forecast interval");
  command
      .add_option_function(
          "--warmup",
          [&options](const std::vector<std::string>& values) {
            const auto span = base::parse_duration(values.front());
            if (!span) refuse_value("--warmup", span.error().message);
            options.warmup_ns = *span;
          },
          "Simulate, but do not count, the jobs submitted within this time of the first one")
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
        folder, fmt::format("arguments that this version does not accept: {}", problem));
  }
  options.policies = {record.policy};
  options.files.keep_rejects = false;
  return options;
}

}  // namespace goban::cli
