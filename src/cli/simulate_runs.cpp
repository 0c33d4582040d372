#include "cli/simulate_runs.hpp"

#include <memory>

#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/run_record.hpp"
#include "report/decision_log.hpp"
#include "report/history_csv.hpp"
#include "report/simulate_report.hpp"

namespace goban::cli {

using base::Result;
using base::Status;

RunPlan::RunPlan(const SimulateOptions& options, const SimulateInputs& inputs,
                 const std::vector<policy::Composition>& policies)
    : ideal(profile::PmScores::uniform(inputs.cluster.num_gpus())) {
  for (const policy::Composition& composition : policies) {
    penalties.push_back(inputs.penalties_for(composition, options.locality_penalty));
  }
  for (size_t i = 0; i < policies.size(); ++i) {
    engine::BatchRun& each = runs.emplace_back();
    each.composition = policies[i];
    each.composition.rules = inputs.rules;
    each.speed = {&inputs.cluster, policies[i].settings.ideal_speed ? &ideal : &inputs.scores,
                  &penalties[i]};
    each.options.settings = policies[i].settings;
    each.options.checkpoint_interval_s = options.checkpoint_interval_s;
    each.options.seed = options.seed;
    if (options.contention) {
      each.options.contention =
          engine::ContentionSettings{*options.contention, options.uplink_ratio};
    }
    each.options.incidents = inputs.incidents;
    each.options.fillers = inputs.filler_source();
    each.options.cancel = &interrupted();
  }
}

std::string run_folder(const std::string& out, const std::string& policy) {
  return out + "/" + policy;
}

namespace {

Status write_run_files(const std::string& folder, const SimulateInputs& inputs,
                       const engine::SimulationResult& result) {
  const model::JobHistory& history = inputs.jobs.history;
  if (Status status = report::write_jobs_csv(folder + "/jobs.csv", history, result); !status) {
    return status;
  }
  return report::write_history_csv(folder + "/history.csv", history, inputs.cluster, result);
}

}  // namespace

Result<FinishedRuns> run_policies(const SimulateOptions& options, const SimulateInputs& inputs,
                                  const std::vector<policy::Composition>& policies,
                                  SimulateHtml& html) {
  const model::JobHistory& history = inputs.jobs.history;
  ProgressBar progress("simulating", static_cast<int64_t>(history.jobs.size() * policies.size()));
  RunPlan plan(options, inputs, policies);
  std::vector<std::unique_ptr<report::DecisionLog>> logs;
  for (size_t i = 0; i < policies.size(); ++i) {
    plan.runs[i].options.finished_count = &progress.done;
    if (options.decisions) {
      auto file =
          base::OutputFile::create(run_folder(options.out, policies[i].name) + "/decisions.jsonl");
      if (!file) return base::failure(file.error());
      logs.push_back(std::make_unique<report::DecisionLog>(
          std::move(*file), base::from_seconds(policies[i].settings.round_s)));
      plan.runs[i].options.observer = logs.back().get();
    }
    html.watch(plan.runs[i]);
  }

  auto results = engine::simulate_all(history, plan.runs, options.threads);
  if (!results) return base::failure(results.error());
  for (const auto& log : logs) {
    if (Status status = log->commit(); !status) return base::failure(status.error());
  }
  RunRecord record;
  if (!options.out.empty()) {
    auto recorded = record_run(options);
    if (!recorded) return base::failure(recorded.error());
    record = std::move(*recorded);
  }
  FinishedRuns finished;
  finished.results = std::move(*results);
  for (size_t i = 0; i < policies.size(); ++i) {
    const engine::BatchResult& result = finished.results[i];
    finished.metrics.push_back(report::measure(policies[i].name, history, inputs.cluster.num_gpus(),
                                               result.simulation, options.warmup_ns));
    finished.metrics.back().wall_s = result.wall_s;
    finished.metrics.back().rejected = inputs.jobs.rejected;
    if (options.out.empty()) continue;
    const std::string folder = run_folder(options.out, policies[i].name);
    Status status = write_run_files(folder, inputs, result.simulation);
    if (status) status = write_run_record(folder, policies[i].name, record);
    if (!status) return base::failure(status.error());
  }
  return finished;
}

}  // namespace goban::cli
