#include "cli/study/simulate_runs.hpp"

#include <memory>

#include "cli/shell/command.hpp"
#include "cli/shell/progress.hpp"
#include "cli/study/run_record.hpp"
#include "study/results/decision_log.hpp"
#include "study/results/failures_csv.hpp"
#include "study/results/history_csv.hpp"
#include "study/results/simulate_report.hpp"

namespace goban::cli {

using base::Result;
using base::Status;

RunPlan::RunPlan(const SimulateOptions& options, const SimulateInputs& inputs,
                 const std::vector<core::policy::Composition>& policies)
    : ideal(core::knowledge::PmScores::uniform(inputs.cluster.num_gpus())) {
  for (const core::policy::Composition& composition : policies) {
    penalties.push_back(inputs.penalties_for(composition, options.locality_penalty));
  }
  for (size_t i = 0; i < policies.size(); ++i) {
    study::simulator::BatchRun& each = runs.emplace_back();
    each.composition = policies[i];
    each.composition.rules = inputs.rules;
    each.speed = {&inputs.cluster, policies[i].settings.ideal_speed ? &ideal : &inputs.scores,
                  &penalties[i]};
    each.options.settings = policies[i].settings;
    each.options.checkpoint_interval_s = options.checkpoint_interval_s;
    each.options.seed = options.seed;
    if (options.contention) {
      each.options.contention =
          study::simulator::ContentionSettings{*options.contention, options.uplink_ratio};
    }
    each.options.incidents = inputs.incidents;
    each.options.knowledge = inputs.knowledge;
    each.options.prediction_noise = options.prediction_noise_pct / 100;
    each.options.fillers = inputs.filler_source();
    each.options.cancel = &interrupted();
  }
}

std::string run_folder(const std::string& out, const std::string& policy) {
  return out + "/" + policy;
}

namespace {

Status write_run_files(const std::string& folder, const SimulateInputs& inputs,
                       const study::simulator::SimulationResult& result,
                       const study::results::JobColumns& columns) {
  const core::model::JobHistory& history = inputs.jobs.history;
  if (Status status =
          study::results::write_jobs_csv(folder + "/jobs.csv", history, result, columns);
      !status) {
    return status;
  }
  if (Status status = study::results::write_history_csv(folder + "/history.csv", history,
                                                        inputs.cluster, result);
      !status) {
    return status;
  }
  return result.breakages.empty()
             ? Status{}
             : study::results::write_failures_csv(folder + "/failures.csv", history, result);
}

/// Figures of energy and sharing go to those who asked for something of the kind.
bool asks_for_service(const SimulateOptions& options) {
  const SimulateFiles& files = options.files;
  return !files.energy.empty() || !files.colocation.empty() || !files.deadlines.empty();
}

/// Lets a run be watched for what its metrics need; its own observer stays in place.
void watch_service(const SimulateOptions& options, const SimulateInputs& inputs,
                   study::simulator::BatchRun& run, FinishedRuns& finished) {
  const core::model::JobHistory& history = inputs.jobs.history;
  study::simulator::Observer*& observer = run.options.observer;
  if (asks_for_service(options)) {
    finished.sharing.push_back(
        std::make_unique<study::results::SharingRecorder>(history.jobs.size(), observer));
    observer = finished.sharing.back().get();
  }
  if (inputs.knowledge == nullptr || inputs.knowledge->power.empty()) return;
  const bool orders_rests = run.composition.rests_nodes();
  finished.energy.push_back(std::make_unique<study::results::EnergyRecorder>(
      history, inputs.cluster, inputs.knowledge, orders_rests, observer));
  observer = finished.energy.back().get();
}

/// Figures of one run, and where its per-job columns come from.
study::results::JobColumns measure_run(const SimulateOptions& options, const SimulateInputs& inputs,
                                       size_t run, const std::string& policy,
                                       FinishedRuns& finished) {
  const core::model::JobHistory& history = inputs.jobs.history;
  const study::simulator::BatchResult& result = finished.results[run];
  study::results::RunMetrics& metrics = finished.metrics.emplace_back(study::results::measure(
      policy, history, inputs.cluster.num_gpus(), result.simulation, options.warmup_ns));
  metrics.wall_s = result.wall_s;
  metrics.rejected = inputs.jobs.rejected;
  study::results::JobColumns columns;
  if (!finished.sharing.empty()) {
    columns.sharing = finished.sharing[run].get();
    metrics.service =
        study::results::measure_service(history, result.simulation, columns.sharing,
                                        history.jobs.front().request.submit_ns + options.warmup_ns);
  }
  if (!finished.energy.empty()) {
    columns.energy = &finished.energy[run]->account();
    metrics.energy = study::results::energy_metrics(*columns.energy, history.jobs.size());
  }
  return columns;
}

}  // namespace

Result<FinishedRuns> run_policies(const SimulateOptions& options, const SimulateInputs& inputs,
                                  const std::vector<core::policy::Composition>& policies,
                                  SimulateHtml& html) {
  const core::model::JobHistory& history = inputs.jobs.history;
  ProgressBar progress("simulating", static_cast<int64_t>(history.jobs.size() * policies.size()));
  RunPlan plan(options, inputs, policies);
  std::vector<std::unique_ptr<study::results::DecisionLog>> logs;
  FinishedRuns finished;
  for (size_t i = 0; i < policies.size(); ++i) {
    plan.runs[i].options.finished_count = &progress.done;
    if (options.decisions) {
      auto file =
          base::OutputFile::create(run_folder(options.out, policies[i].name) + "/decisions.jsonl");
      if (!file) return base::failure(file.error());
      logs.push_back(std::make_unique<study::results::DecisionLog>(
          std::move(*file), base::from_seconds(policies[i].settings.round_s)));
      plan.runs[i].options.observer = logs.back().get();
    }
    watch_service(options, inputs, plan.runs[i], finished);
    html.watch(plan.runs[i]);
  }

  auto results = study::simulator::simulate_all(history, plan.runs, options.threads);
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
  finished.results = std::move(*results);
  for (size_t i = 0; i < policies.size(); ++i) {
    const study::results::JobColumns columns =
        measure_run(options, inputs, i, policies[i].name, finished);
    if (options.out.empty()) continue;
    const std::string folder = run_folder(options.out, policies[i].name);
    Status status = write_run_files(folder, inputs, finished.results[i].simulation, columns);
    if (status) status = write_run_record(folder, policies[i].name, record);
    if (!status) return base::failure(status.error());
  }
  return finished;
}

}  // namespace goban::cli
