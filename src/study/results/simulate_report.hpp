// The outputs of `goban simulate`: JSON, comparison table, per-job CSV.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/model/job_history.hpp"
#include "study/results/backtest.hpp"
#include "study/results/jct_bounds.hpp"
#include "study/results/run_metrics.hpp"
#include "study/results/worth.hpp"

namespace goban::study::results {

/// Runs to compare. Gains are relative to the reference run: the site's own policy.
struct Comparison {
  std::vector<RunMetrics> runs;
  size_t reference = 0;
  std::optional<Backtest> backtest;  ///< of the reference run
  std::optional<JctBounds> bounds;   ///< of the history on the cluster
  std::optional<Worth> worth;        ///< only with prices
};

/// The document {"runs": [...]}, see docs/simulate.md. Numbers are written in the shortest form
/// that reads back equal.
[[nodiscard]] std::string simulate_json(const Comparison& comparison);

/// Parts of that document: the members of a run without its policy; the back-test.
[[nodiscard]] std::string figures_json(const Comparison& comparison, size_t run);
[[nodiscard]] std::string backtest_json(const Backtest& test);

/// A table for a terminal: one row per run, gains next to the averages. With a back-test also the
/// error of each gain and whether it is claimed. `terminal_width`, here and below: in characters;
/// 0 = no limit. What is wider is shown in several tables.
[[nodiscard]] std::string comparison_table(const Comparison& comparison, size_t terminal_width = 0);

/// The result of the back-test, for a terminal.
[[nodiscard]] std::string backtest_text(const Backtest& test);

/// For a terminal: how forecasts of start times held, by policy; empty if none were requested.
[[nodiscard]] std::string starts_lines(const std::vector<RunMetrics>& runs);
/// For a terminal: promised starts that were missed, by policy; empty if all were kept.
[[nodiscard]] std::string promises_lines(const std::vector<RunMetrics>& runs);
/// Resizes of elastic jobs; empty if there are none.
[[nodiscard]] std::string elastic_lines(const std::vector<RunMetrics>& runs);

/// For a terminal: the account with the highest average slowdown under each policy; empty if the
/// jobs have neither accounts nor users.
[[nodiscard]] std::string worst_account_lines(const std::vector<RunMetrics>& runs);

/// For a terminal: the energy of each run under the four accountings; empty without a power model.
[[nodiscard]] std::string energy_table(const Comparison& comparison, size_t terminal_width = 0);

/// For a terminal: service targets, slowdowns and fairness; empty if they were not measured.
[[nodiscard]] std::string service_table(const std::vector<RunMetrics>& runs,
                                        size_t terminal_width = 0);
/// What staging did; empty if no job stages data.
[[nodiscard]] std::string staging_table(const std::vector<RunMetrics>& runs,
                                        size_t terminal_width = 0);

/// Additional columns of jobs.csv; null = not recorded.
struct JobColumns {
  const core::knowledge::EnergyAccount* energy = nullptr;  ///< energy_kwh
  const SharingRecorder* sharing = nullptr;  ///< predicted_by: the level; `alone` = free GPUs
};

/// Writes job_id,submit_s,start_s,finish_s,jct_s,wait_s,num_gpus,preemptions and the additional
/// columns. The file appears complete or not at all. Errors: Failed if it cannot be written.
[[nodiscard]] base::Status write_jobs_csv(const std::string& path,
                                          const core::model::JobHistory& history,
                                          const simulator::SimulationResult& result,
                                          const JobColumns& columns = {});

}  // namespace goban::study::results
