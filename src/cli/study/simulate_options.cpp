#include "cli/study/simulate_options.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <thread>

#include "cli/site/reading_options.hpp"
#include "cli/study/simulate_backtest.hpp"
#include "core/policy/policy_options.hpp"

namespace goban::cli {

using base::Result;

SimulateOptions::SimulateOptions() : threads(std::max(1u, std::thread::hardware_concurrency())) {}

namespace {

void add_input_options(Command& c, SimulateOptions& options) {
  SimulateFiles& files = options.files;
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

void add_policy_options(Command& c, SimulateOptions& options) {
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

void add_output_options(Command& c, SimulateOptions& options) {
  c.add_option("--rejects", options.files.rejects, "Where rejected records go, with reasons");
  c.add_option("--out", options.out,
               "Write DIR/<policy>/jobs.csv, history.csv (can be replayed) and run.json");
  c.add_option("--html", options.html, "Write a report with pictures: one file for a browser");
  c.add_flag("--decisions", options.decisions, "Write DIR/<policy>/decisions.jsonl, too");
  c.add_option("--threads", options.threads, "Policies simulated at a time")
      ->range(1, 1024)
      ->capture_default_str();
  c.add_flag("--json", options.json, "Print JSON alone");
}

}  // namespace

void add_simulate_options(Command& command, SimulateOptions& options) {
  add_input_options(command, options);
  add_policy_options(command, options);
  add_backtest_options(command, options);
  add_output_options(command, options);
}

Result<std::vector<core::policy::Composition>> compositions(const SimulateOptions& options) {
  std::vector<core::policy::Composition> out;
  std::set<std::string> names;
  for (const std::string& name : options.policies) {
    auto composition = core::policy::compose(name, options.order);
    if (!composition) return base::failure(composition.error());
    if (!names.insert(composition->name).second) {
      return base::usage_error(fmt::format("policy {} is given twice", name),
                               "name each policy once");
    }
    core::policy::RunSettings& settings = composition->settings;
    if (options.round_s) settings.round_s = *options.round_s;
    if (options.restart_cost_s) settings.restart_cost_s = *options.restart_cost_s;
    for (const std::string& setting : options.sharing) {
      if (base::Status set = core::policy::set_option(composition->options, setting); !set) {
        return base::failure(set.error());
      }
    }
    if (options.locality_penalty) settings.locality_penalty = *options.locality_penalty;
    if (settings.credit_per_round && settings.round_s <= 0) {
      return base::usage_error(fmt::format("{} works in rounds", name),
                               "give a --round above 0, or leave it out");
    }
    out.push_back(std::move(*composition));
  }
  return out;
}

}  // namespace goban::cli
