// goban simulate: replays a job history under several policies and compares them.
#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <thread>

#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/simulate_inputs.hpp"
#include "engine/simulated/batch.hpp"
#include "report/decision_log.hpp"
#include "report/simulate_report.hpp"

namespace goban::cli {
namespace {

using base::Result;
using base::Status;

struct Arguments {
  SimulateFiles files;
  std::vector<std::string> policies;
  std::optional<std::string> order;
  std::optional<double> round_s;
  std::optional<double> restart_cost_s;
  std::optional<double> locality_penalty;
  double checkpoint_interval_s = 1800;
  uint64_t seed = 1;
  std::string out;
  size_t threads = std::max(1u, std::thread::hardware_concurrency());
  bool json = false;
  bool decisions = false;
};

Result<std::vector<policy::Composition>> compositions(const Arguments& arguments) {
  std::vector<policy::Composition> out;
  std::set<std::string> names;
  for (const std::string& name : arguments.policies) {
    auto composition = policy::compose(name, arguments.order);
    if (!composition) return base::failure(composition.error());
    if (!names.insert(composition->name).second) {
      return base::usage_error(fmt::format("policy {} is given twice", name),
                               "name each policy once");
    }
    policy::RunSettings& settings = composition->settings;
    if (arguments.round_s) settings.round_s = *arguments.round_s;
    if (arguments.restart_cost_s) settings.restart_cost_s = *arguments.restart_cost_s;
    if (arguments.locality_penalty) settings.locality_penalty = *arguments.locality_penalty;
    if (settings.credit_per_round && settings.round_s <= 0) {
      return base::usage_error(fmt::format("{} works in rounds", name),
                               "give a --round above 0, or leave it out");
    }
    out.push_back(std::move(*composition));
  }
  return out;
}

void warn_about(const history::ReadResult& read, const SimulateFiles& files) {
  if (read.unsorted) fmt::print(stderr, "goban: note: {} was not in submit order\n", files.jobs);
  for (const std::string& column : read.ignored_columns) {
    fmt::print(stderr, "goban: note: column {} of {} is not used\n", column, files.jobs);
  }
  if (read.rejected == 0) return;
  fmt::print(stderr, "goban: warning: {} of {} records were rejected, see {}\n", read.rejected,
             read.records, files.rejects);
  constexpr size_t kShown = 3;
  for (size_t i = 0; i < std::min(kShown, read.first_rejections.size()); ++i) {
    const history::Rejection& rejection = read.first_rejections[i];
    fmt::print(stderr, "  {}:{}: {}\n", files.jobs, rejection.line, rejection.reason);
  }
}

/// Says which policies were told more than a live scheduler would know.
void warn_about_true_durations(const std::vector<policy::Composition>& policies,
                               const model::JobHistory& history) {
  for (const policy::Composition& c : policies) {
    const bool backfills = c.select.ends_with("backfill");
    if (!c.simulation_only() && (!backfills || history.has_walltime_limits)) continue;
    fmt::print(stderr, "goban: note: {} uses true durations, which only a simulation knows{}\n",
               c.name, c.simulation_only() ? "" : ": the jobs have no walltime limits");
  }
}

/// Folder of one run's files; composition names hold '+', which every file system takes.
std::string run_folder(const std::string& out, const std::string& policy) {
  return out + "/" + policy;
}

Result<std::vector<report::RunMetrics>> run(const Arguments& arguments,
                                            const SimulateInputs& inputs,
                                            const std::vector<policy::Composition>& policies) {
  const model::JobHistory& history = inputs.jobs.history;
  ProgressBar progress("simulating", static_cast<int64_t>(history.jobs.size() * policies.size()));
  const profile::PmScores ideal = profile::PmScores::uniform(inputs.cluster.num_gpus());
  std::vector<profile::LocalityPenalties> penalties;
  for (const policy::Composition& composition : policies) {
    penalties.push_back(inputs.penalties_for(composition, arguments.locality_penalty));
  }
  std::vector<std::unique_ptr<report::DecisionLog>> logs;
  std::vector<engine::BatchRun> runs;
  for (size_t i = 0; i < policies.size(); ++i) {
    engine::BatchRun& each = runs.emplace_back();
    each.composition = policies[i];
    each.speed = {&inputs.cluster, policies[i].settings.ideal_speed ? &ideal : &inputs.scores,
                  &penalties[i]};
    each.options.settings = policies[i].settings;
    each.options.checkpoint_interval_s = arguments.checkpoint_interval_s;
    each.options.seed = arguments.seed;
    each.options.incidents = inputs.incidents;
    each.options.fillers = inputs.filler_source();
    each.options.finished_count = &progress.done;
    each.options.cancel = &interrupted();
    if (!arguments.decisions) continue;
    auto file =
        base::OutputFile::create(run_folder(arguments.out, policies[i].name) + "/decisions.jsonl");
    if (!file) return base::failure(file.error());
    logs.push_back(std::make_unique<report::DecisionLog>(
        std::move(*file), base::from_seconds(policies[i].settings.round_s)));
    each.options.observer = logs.back().get();
  }

  auto results = engine::simulate_all(history, runs, arguments.threads);
  if (!results) return base::failure(results.error());
  for (const auto& log : logs) {
    if (Status status = log->commit(); !status) return base::failure(status.error());
  }
  std::vector<report::RunMetrics> metrics;
  for (size_t i = 0; i < policies.size(); ++i) {
    const engine::BatchResult& result = (*results)[i];
    metrics.push_back(
        report::measure(policies[i].name, history, inputs.cluster.num_gpus(), result.simulation));
    metrics.back().wall_s = result.wall_s;
    metrics.back().rejected = inputs.jobs.rejected;
    if (arguments.out.empty()) continue;
    const std::string path = run_folder(arguments.out, policies[i].name) + "/jobs.csv";
    if (Status status = report::write_jobs_csv(path, history, result.simulation); !status) {
      return base::failure(status.error());
    }
  }
  return metrics;
}

int simulate(Arguments arguments) {
  catch_interrupts();
  if (arguments.decisions && arguments.out.empty()) {
    return report_error(
        base::usage_error("--decisions has no place to write to", "give --out DIR").value());
  }
  const auto policies = compositions(arguments);
  if (!policies) return report_error(policies.error());
  const auto inputs = load_inputs(arguments.files, arguments.out);
  if (!inputs) return report_error(inputs.error());
  warn_about(inputs->jobs, arguments.files);
  warn_about_true_durations(*policies, inputs->jobs.history);
  const auto metrics = run(arguments, *inputs, *policies);
  if (!metrics) return report_error(metrics.error());

  if (arguments.json) {
    fmt::print("{}", report::simulate_json(*metrics));
    return 0;
  }
  fmt::print("{} on {} ({} GPUs)\n\n{}", arguments.files.jobs, inputs->cluster.name(),
             inputs->cluster.num_gpus(), report::comparison_table(*metrics));
  if (!arguments.out.empty()) fmt::print("Per-job results: {}/<policy>/jobs.csv\n", arguments.out);
  return 0;
}

}  // namespace

void add_simulate(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* c = app.add_subcommand("simulate",
                                   "Replay a job history under several policies and compare them");
  SimulateFiles& files = arguments->files;
  c->add_option("--cluster", files.cluster, "Cluster: a TOML file, a preset, or NxM")->required();
  c->add_option("--jobs", files.jobs, "Job history: CSV, plain or gzip; - reads stdin")->required();
  c->add_option("--format", files.format, "Format of the history; told by its header if left out");
  c->add_option("--scores", files.scores, "PM scores of the GPUs (CSV); all 1 if left out");
  c->add_option("--policy", arguments->policies, "Policies, separated by commas: goban policies")
      ->required()
      ->delimiter(',');
  c->add_option("--order", arguments->order, "Replace the order of every policy");
  c->add_option("--round", arguments->round_s, "Decide every so many seconds only; 0: at events")
      ->check(CLI::Range(0.0, 1e7));
  c->add_option("--restart-cost", arguments->restart_cost_s,
                "Seconds a relaunched job holds its GPUs idly (default 30; artifact presets 0)")
      ->check(CLI::Range(0.0, 1e7));
  c->add_option("--locality-penalty", arguments->locality_penalty,
                "Slowdown of jobs that span nodes (default 1.0; artifact presets 1.7)")
      ->check(CLI::Range(0.001, 1000.0));
  c->add_option("--penalty", files.penalties,
                "Further penalties: class:A=1.16, model:PointNet@8=1.10, level:rack=1.3");
  c->add_option("--job-profile", files.job_profiles,
                "Job profiles (JSON) whose traffic gives the penalty of their model");
  c->add_option("--filler-interarrivals", files.fillers,
                "Repeat the history as filler jobs with these gaps (CSV: k,inter_arrival_s)");
  c->add_option("--incidents", files.incidents, "Node failures and maintenance windows (TOML)");
  c->add_option("--checkpoint-interval", arguments->checkpoint_interval_s,
                "Seconds between checkpoints; a node failure loses what came after the last")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  c->add_option("--rejects", files.rejects, "Where rejected records go, with reasons");
  c->add_option("--seed", arguments->seed, "Seed of policies that draw")->capture_default_str();
  c->add_option("--out", arguments->out, "Write DIR/<policy>/jobs.csv");
  c->add_flag("--decisions", arguments->decisions, "Write DIR/<policy>/decisions.jsonl, too");
  c->add_option("--threads", arguments->threads, "Policies simulated at a time")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  c->add_flag("--json", arguments->json, "Print JSON alone");
  c->footer(
      "Examples:\n"
      "  goban simulate --cluster 32x8 --jobs jobs.csv --policy fifo+packed,las+pal\n"
      "  goban simulate --cluster sia-64 --jobs workload-1.csv --scores scores.csv \\\n"
      "    --policy packed-sticky-artifact,pal-artifact --filler-interarrivals gaps.csv\n"
      "  zcat jobs.csv.gz | goban simulate --cluster abci --jobs - --format generic \\\n"
      "    --policy easy-backfill+packed --json");
  c->callback([arguments, &action] { action = [arguments] { return simulate(*arguments); }; });
}

}  // namespace goban::cli
