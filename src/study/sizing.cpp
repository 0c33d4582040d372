#include "study/sizing.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "core/model/cluster_presets.hpp"
#include "study/history/history_builder.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::study {
namespace {

using site::analysis::Context;
using site::analysis::Job;

constexpr std::string_view kSection = "what_if";
constexpr std::string_view kPolicy = "fifo+skip+packed";

/// The result for one cluster size.
struct Trial {
  int64_t nodes = 0;
  double mean_wait_h = 0;
  double target_wait_h = 0;  ///< wait time that the target share of jobs does not exceed
  double utilization = 0;
};

/// All jobs of the population that hold GPUs, as input of the simulator.
core::model::JobHistory history_of(const site::analysis::Population& population) {
  history::HistoryBuilder builder(nullptr, population.jobs.size() + 1);
  site::records::RecordTable::RecordBuffers buffers;
  uint32_t last = UINT32_MAX;
  for (const Job& job : population.jobs) {
    if (job.row == last || job.gpus <= 0) continue;
    last = job.row;
    site::records::AccountingRecord record = population.table->record(job.row, buffers);
    record.resource_type = {};
    record.instances = 0;
    if (record.submit_ns < 0) continue;
    (void)builder.take(record);  // rejected records were counted by the reader or never ran
  }
  return builder.finish();
}

/// Maximum number of GPUs held at once if no job ever waited: the capacity a cloud would need.
int64_t most_at_once(const core::model::JobHistory& history) {
  std::map<base::TimeNs, int64_t> changes;
  for (const core::model::Job& job : history.jobs) {
    changes[job.request.submit_ns] += job.request.num_gpus;
    changes[base::add_saturating(job.request.submit_ns, base::from_seconds(job.work_s))] -=
        job.request.num_gpus;
  }
  int64_t held = 0;
  int64_t most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, held += change);
  return most;
}

base::Result<Trial> try_nodes(const core::model::JobHistory& history, int64_t nodes, int32_t gpus,
                              const SizingTarget& target, const std::atomic<bool>* cancel) {
  const auto cluster = core::model::make_preset(fmt::format("{}x{}", nodes, gpus));
  if (!cluster) return base::failure(cluster.error());
  const auto composition = core::policy::compose(kPolicy);
  if (!composition) return base::failure(composition.error());
  const core::knowledge::PmScores scores = core::knowledge::PmScores::uniform(cluster->num_gpus());
  const core::knowledge::LocalityPenalties penalties(*cluster, 1.0);
  simulator::SimulationOptions options;
  options.settings = composition->settings;
  options.cancel = cancel;
  options.stages = false;  // these clusters have no storage
  const auto result =
      simulator::simulate(history, {&*cluster, &scores, &penalties}, *composition, options);
  if (!result) return base::failure(result.error());
  std::vector<double> waits;
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    waits.push_back(
        base::to_seconds(result->outcomes[i].start_ns - history.jobs[i].request.submit_ns) / 3600);
  }
  std::ranges::sort(waits);
  Trial trial{.nodes = nodes};
  trial.mean_wait_h = base::statistics::mean(waits).value_or(0);
  trial.target_wait_h =
      base::statistics::quantile(waits, target.share, base::statistics::QuantileRule::NearestRank)
          .value_or(0);
  const double span_s = base::to_seconds(result->end_ns - history.jobs.front().request.submit_ns);
  if (span_s > 0) trial.utilization = result->busy_gpu_s / span_s / cluster->num_gpus();
  return trial;
}

/// Number of nodes that the largest job needs.
int64_t fewest_nodes(const core::model::JobHistory& history, int32_t gpus) {
  int64_t most = 1;
  for (const core::model::Job& job : history.jobs) {
    most = std::max<int64_t>(most, (job.request.num_gpus + gpus - 1) / gpus);
  }
  return most;
}

/// Doubles the number of nodes until the target is met, then bisects.
base::Result<std::map<int64_t, Trial>> search(const core::model::JobHistory& history, int32_t gpus,
                                              const SizingTarget& target,
                                              const std::atomic<bool>* cancel) {
  std::map<int64_t, Trial> trials;
  const auto meets = [&](int64_t nodes) -> base::Result<bool> {
    const auto trial = try_nodes(history, nodes, gpus, target, cancel);
    if (!trial) return base::failure(trial.error());
    trials[nodes] = *trial;
    return trial->target_wait_h <= target.wait_h;
  };
  int64_t low = fewest_nodes(history, gpus) - 1;  // too small
  int64_t high = low + 1;
  while (true) {
    const auto met = meets(high);
    if (!met) return base::failure(met.error());
    if (*met) break;
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    const auto met = meets(middle);
    if (!met) return base::failure(met.error());
    (*met ? high : low) = middle;
  }
  return trials;
}

}  // namespace

base::Status add_sizing(const Context& context, const SizingTarget& target,
                        const base::Progress& progress) {
  const core::model::JobHistory history = history_of(context.population);
  if (history.jobs.empty()) {
    add_absent(context, "sizing", kSection, {}, "reason.no_jobs");
    return {};
  }
  const int32_t gpus = context.population.site.gpus_per_node;
  const auto trials = search(history, gpus, target, progress.cancel());
  if (!trials) return base::failure(trials.error());
  site::analysis::Table table = make_table(context, "sizing", kSection);
  table.text = table.counts + ". " +
               context.labels.with("text.sizing_model", 100 * target.share, target.wait_h, kPolicy);
  table.columns = columns(context, {"nodes", "gpus"});
  table.columns.push_back(column(context, "mean_wait", "h"));
  table.columns.push_back(column(context, "target_wait", "h"));
  table.columns.push_back(column(context, "utilization", "%"));
  table.columns.push_back(column(context, "meets_target"));
  int64_t chosen = 0;
  for (const auto& [nodes, trial] : *trials) {
    const bool meets = trial.target_wait_h <= target.wait_h;
    if (meets && chosen == 0) chosen = nodes;
    table.rows.push_back({nodes, nodes * gpus, trial.mean_wait_h, trial.target_wait_h,
                          100 * trial.utilization,
                          context.labels(meets ? "word.meets" : "word.misses")});
  }
  const auto jobs = static_cast<int64_t>(history.jobs.size());
  table.quality = {jobs, static_cast<int64_t>(context.population.jobs.size()), {}};
  add_scalar(context, "sizing_nodes", kSection, table.quality, chosen);
  add_scalar(context, "sizing_gpus", kSection, table.quality, chosen * gpus);
  add_scalar(context, "cloud_gpus", kSection, table.quality, most_at_once(history));
  context.report.tables.push_back(std::move(table));
  return {};
}

}  // namespace goban::study
