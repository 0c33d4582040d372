#include "study/study.hpp"

#include <memory>
#include <utility>

#include "base/output_file.hpp"
#include "site/page/html_report.hpp"
#include "study/backtest.hpp"
#include "study/notes.hpp"
#include "study/priced_runs.hpp"
#include "study/results/decision_log.hpp"
#include "study/results/failures_csv.hpp"
#include "study/results/history_csv.hpp"
#include "study/results/starts_csv.hpp"
#include "study/results/worth_report.hpp"
#include "study/run_record.hpp"
#include "study/study_report.hpp"

namespace goban::study {

using base::Result;
using base::Status;

namespace {

using DecisionLogs = std::vector<std::unique_ptr<results::DecisionLog>>;

/// Folder of one run's files. Policy names contain '+', which every file system accepts.
std::string run_folder(const StudyOptions& options, const core::policy::Composition& policy) {
  return options.out + "/" + policy.name;
}

Status log_decisions(const std::string& folder, simulator::BatchRun& run, DecisionLogs& logs) {
  auto file = base::OutputFile::create(folder + "/decisions.jsonl");
  if (!file) return base::failure(file.error());
  logs.push_back(std::make_unique<results::DecisionLog>(
      std::move(*file), base::from_seconds(run.composition.settings.round_s)));
  run.options.observer = logs.back().get();
  return {};
}

Status write_run_files(const std::string& folder, const Inputs& inputs,
                       const simulator::SimulationResult& result,
                       const results::JobColumns& columns) {
  const core::model::JobHistory& history = inputs.jobs.history;
  if (Status status = results::write_jobs_csv(folder + "/jobs.csv", history, result, columns);
      !status) {
    return status;
  }
  if (Status status =
          results::write_history_csv(folder + "/history.csv", history, inputs.cluster, result);
      !status) {
    return status;
  }
  return result.breakages.empty()
             ? Status{}
             : results::write_failures_csv(folder + "/failures.csv", history, result);
}

/// Measures all runs, and writes their files if a folder is given.
Status finish_runs(const StudyOptions& options, const Inputs& inputs,
                   const std::vector<core::policy::Composition>& policies, FinishedRuns& runs) {
  RunRecord record;
  if (!options.out.empty()) {
    auto recorded = record_run(options);
    if (!recorded) return base::failure(recorded.error());
    record = std::move(*recorded);
  }
  for (size_t i = 0; i < policies.size(); ++i) {
    const results::JobColumns columns = runs.measure(options, inputs, policies[i].name);
    if (options.out.empty()) continue;
    const std::string folder = run_folder(options, policies[i]);
    Status status = write_run_files(folder, inputs, runs.simulated[i].simulation, columns);
    if (status && !runs.starts.empty() && runs.starts[i] != nullptr) {
      status = results::write_starts_csv(folder + "/starts.csv", inputs.jobs.history,
                                         runs.starts[i]->starts());
    }
    if (status) status = write_run_record(folder, policies[i].name, record);
    if (!status) return status;
  }
  return {};
}

}  // namespace

Study::Study(StudyOptions options, std::vector<core::policy::Composition> policies, Inputs inputs)
    : options_(std::move(options)), policies_(std::move(policies)), inputs_(std::move(inputs)) {
  notes_ = study_notes(options_, inputs_, policies_);
}

Result<Study> Study::load(StudyOptions options, base::Progress& progress) {
  if (options.decisions && options.out.empty()) {
    return base::usage_error("--decisions requires --out", "give --out DIR");
  }
  if (const Status status = site::page::html_available(); !options.html.empty() && !status) {
    return base::failure(status.error());
  }
  add_site_policy(options);
  auto policies = compositions(options);
  if (!policies) return base::failure(policies.error());
  auto inputs = load_inputs(options.files, options.out, options.seed, progress);
  if (!inputs) return base::failure(inputs.error());
  return Study(std::move(options), std::move(*policies), std::move(*inputs));
}

Result<results::Comparison> Study::run(base::Progress& progress) const {
  const core::model::JobHistory& history = inputs_.jobs.history;
  StudyReport report(options_, inputs_, notes_);
  RunPlan plan(options_, inputs_, policies_, progress.cancel());
  DecisionLogs logs;
  FinishedRuns runs;
  for (simulator::BatchRun& run : plan.runs) {
    run.options.finished_count = &progress.done;
    if (options_.decisions) {
      const std::string folder = run_folder(options_, run.composition);
      if (Status status = log_decisions(folder, run, logs); !status) {
        return base::failure(status.error());
      }
    }
    runs.watch(options_, inputs_, run);
    report.watch(run);
  }
  plan.attach_plugins();
  const auto jobs = static_cast<int64_t>(history.jobs.size() * policies_.size());
  {
    const base::Phase simulating(progress, "simulating", jobs);
    auto simulated = simulator::simulate_all(history, plan.runs, options_.threads);
    if (!simulated) return base::failure(simulated.error());
    runs.simulated = std::move(*simulated);
  }
  for (const auto& log : logs) {
    if (Status status = log->commit(); !status) return base::failure(status.error());
  }
  if (Status status = finish_runs(options_, inputs_, policies_, runs); !status) {
    return base::failure(status.error());
  }
  auto comparison = compare_runs(options_, inputs_, runs);
  if (!comparison) return comparison;
  if (inputs_.prices) {
    auto worth = price_runs(options_, inputs_, policies_, runs, comparison->reference, progress);
    if (!worth) return base::failure(worth.error());
    comparison->worth = std::move(*worth);
    if (!options_.out.empty()) {
      const std::string path = options_.out + "/worth.csv";
      if (Status status = results::write_worth_csv(path, *comparison->worth); !status) {
        return base::failure(status.error());
      }
    }
  }
  if (Status status = report.write(*comparison, runs); !status) {
    return base::failure(status.error());
  }
  return comparison;
}

}  // namespace goban::study
