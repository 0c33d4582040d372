// Figures 5 to 7: number of GPUs that a job used, their utilisation, and its spread.
//
// Jobs of Figure 5 completed (job_end.hpp) and held several GPUs; Figure 6a shows the jobs of one
// GPU, which Figure 5 excludes (docs/papers.md, ABCI). The paper's jobs of one node hold all of its
// GPUs; jobs that hold several but not all are a group of their own in Figures 6b and 7a. A job's
// utilisation is the mean over time, then over its used GPUs (MeanOver); its spread is the standard
// deviation between them.
#include <algorithm>

#include "base/statistics/ecdf.hpp"
#include "site/analysis/gpu_values.hpp"
#include "site/analysis/job_end.hpp"
#include "site/analysis/statistics.hpp"

namespace goban::site::analysis {
namespace {

constexpr std::string_view kGpuFiguresSection = "gpu_use";
constexpr double kBusyJob = 80;
constexpr double kSmallSpread = 10;

/// Values of a job for the figures.
struct UsedJob {
  double mean = -1;    ///< percent; -1 = no value
  double spread = -1;  ///< points; needs two GPUs
  int32_t used = 0;
  int32_t allocated = 0;
};

UsedJob look(const Context& context, size_t index) {
  const GpuUse& use = *context.use;
  UsedJob job;
  std::vector<double> means;
  for (const GpuValue& value : use.of(index)) {
    ++job.allocated;
    const bool busy = value.activity == series::Activity::Busy;
    job.used += busy ? 1 : 0;
    if (value.mean_pct < 0) continue;
    if (busy || context.rules.mean_over == MeanOver::Allocated) means.push_back(value.mean_pct);
  }
  if (means.empty()) return job;
  job.mean = *base::statistics::mean(means);
  if (means.size() > 1) {
    job.spread = *base::statistics::standard_deviation(means, context.rules.spread_sigma);
  }
  return job;
}

/// Values of a class of jobs.
struct Group {
  std::string key{};
  std::string label{};
  std::vector<double> means{};
  std::vector<double> spreads{};
  int64_t jobs = 0;
};

struct Groups {
  Group one_gpu;
  std::vector<Group> by_used;   ///< jobs that hold all GPUs of a node, by GPUs used
  Group part;                   ///< jobs that hold several GPUs of a node, but not all
  int64_t all_used = 0;         ///< jobs that hold and use all GPUs of a node
  std::vector<Group> by_nodes;  ///< multi-node jobs by bin
  std::vector<int64_t> ratio;   ///< multi-node jobs by tenths of used / allocated
  int64_t multi_node = 0;
  int64_t eligible = 0;
  int64_t all_known = 0;
};

constexpr size_t kTenths = 10;

void add_to(Group& group, const UsedJob& job) {
  ++group.jobs;
  if (job.mean >= 0) group.means.push_back(job.mean);
  if (job.spread >= 0) group.spreads.push_back(job.spread);
}

Groups gather(const Context& context) {
  const Population& population = context.population;
  Groups groups;
  groups.part = {.key = "part_of_node", .label = context.labels("word.part_of_node")};
  groups.one_gpu.label = context.labels("word.one_gpu");
  groups.one_gpu.key = "1_gpu";
  for (int32_t used = 1; used <= population.site.gpus_per_node; ++used) {
    groups.by_used.push_back(
        {.key = fmt::format("{}_used", used), .label = context.labels.with("word.n_used", used)});
  }
  for (size_t bin = 0; bin < population.site.node_bins.size(); ++bin) {
    const std::string name = population.site.bin_name(bin);
    groups.by_nodes.push_back({.key = name, .label = context.labels.with("word.n_nodes", name)});
  }
  groups.ratio.assign(kTenths + 1, 0);
  for (size_t i = 0; i < population.jobs.size(); ++i) {
    const Job& job = population.jobs[i];
    if (!job.selected || !ended_well(population.row(job))) continue;
    ++groups.eligible;
    if (!context.use->all_known(i)) continue;
    ++groups.all_known;
    const UsedJob used = look(context, i);
    if (used.used == 0) continue;
    if (used.allocated == 1) {
      add_to(groups.one_gpu, used);
    } else if (job.nodes == 1 && used.allocated >= job.node_gpus) {
      const auto last = static_cast<int32_t>(groups.by_used.size());
      add_to(groups.by_used[static_cast<size_t>(std::min(used.used, last) - 1)], used);
      groups.all_used += used.used == used.allocated ? 1 : 0;
    } else if (job.nodes <= 1) {
      add_to(groups.part, used);
    } else {
      add_to(groups.by_nodes[population.site.bin_of(job.nodes)], used);
      ++groups.multi_node;
      ++groups
            .ratio[static_cast<size_t>(used.used) * kTenths / static_cast<size_t>(used.allocated)];
    }
  }
  return groups;
}

int64_t count_of(const std::vector<Group>& groups) {
  int64_t jobs = 0;
  for (const Group& group : groups) jobs += group.jobs;
  return jobs;
}

void add_used(const Context& context, const Groups& groups, const Quality& quality) {
  const int64_t nodes = count_of(groups.by_used);
  if (nodes > 0) {
    Figure figure = make_figure(context, FigureKind::Bar, "figure5a_used_gpus", kGpuFiguresSection,
                                "Figure 5a");
    figure.x = axis(context, "used_gpus");
    figure.y = axis(context, "share_of_jobs", "%");
    Series series{.key = "share", .label = context.labels("column.share")};
    for (size_t i = 0; i < groups.by_used.size(); ++i) {
      figure.categories.push_back(fmt::format("{}", i + 1));
      series.y.push_back(100 * static_cast<double>(groups.by_used[i].jobs) /
                         static_cast<double>(nodes));
    }
    figure.quality = {nodes, quality.of, quality.note};
    add_scalar(context, "all_gpus_used_share", kGpuFiguresSection, figure.quality,
               percent(static_cast<double>(groups.all_used), static_cast<double>(nodes)), "%",
               "95 %");
    figure.series.push_back(std::move(series));
    context.report.figures.push_back(std::move(figure));
  } else {
    add_absent(context, "figure5a_used_gpus", kGpuFiguresSection, "Figure 5a",
               "reason.no_such_jobs");
  }
  if (groups.multi_node == 0) {
    add_absent(context, "figure5b_used_ratio", kGpuFiguresSection, "Figure 5b",
               "reason.no_such_jobs");
    return;
  }
  Figure figure =
      make_figure(context, FigureKind::Bar, "figure5b_used_ratio", kGpuFiguresSection, "Figure 5b");
  figure.x = axis(context, "used_ratio", "%");
  figure.y = axis(context, "share_of_jobs", "%");
  Series series{.key = "share", .label = context.labels("column.share")};
  for (size_t i = 0; i < groups.ratio.size(); ++i) {
    figure.categories.push_back(i == kTenths ? "100" : fmt::format("{}-{}", 10 * i, 10 * i + 9));
    series.y.push_back(100 * static_cast<double>(groups.ratio[i]) /
                       static_cast<double>(groups.multi_node));
  }
  figure.quality = {groups.multi_node, quality.of, quality.note};
  add_scalar(context, "all_gpus_used_multi_share", kGpuFiguresSection, figure.quality,
             series.y.back(), "%", "88 %");
  figure.series.push_back(std::move(series));
  context.report.figures.push_back(std::move(figure));
}

/// The distribution of some groups' means, as a curve and as a histogram of tenths.
void add_means(const Context& context, std::string_view id, std::string_view paper,
               const std::vector<const Group*>& groups, const Quality& quality) {
  Figure curve = make_figure(context, FigureKind::Step, id, kGpuFiguresSection, paper);
  curve.x = axis(context, "gpu_utilization", "%");
  curve.y = axis(context, "share_of_jobs", "%");
  const std::string bars_id = std::string(id) + "_histogram";
  Figure bars = make_figure(context, FigureKind::Bar, bars_id, kGpuFiguresSection, paper);
  bars.title = curve.title;
  bars.x = curve.x;
  bars.y = curve.y;
  for (size_t i = 0; i < kTenths; ++i) {
    bars.categories.push_back(fmt::format("{}-{}", 10 * i, 10 * (i + 1)));
  }
  for (const Group* group : groups) {
    if (group->means.empty()) continue;
    curve.series.push_back(distribution(group->key, group->label, group->means));
    Series series{.key = group->key, .label = group->label};
    series.y.assign(kTenths, 0);
    for (const double mean : group->means) {
      const auto tenth = std::min(static_cast<size_t>(mean / 10), kTenths - 1);
      series.y[tenth] += 100.0 / static_cast<double>(group->means.size());
    }
    bars.series.push_back(std::move(series));
    curve.quality.used += static_cast<int64_t>(group->means.size());
  }
  if (curve.series.empty()) {
    add_absent(context, id, kGpuFiguresSection, paper, "reason.no_such_jobs");
    return;
  }
  curve.quality.of = quality.of;
  curve.quality.note = quality.note;
  bars.quality = curve.quality;
  context.report.figures.push_back(std::move(curve));
  context.report.figures.push_back(std::move(bars));
}

void add_spreads(const Context& context, std::string_view id, std::string_view paper,
                 const std::vector<Group>& groups, std::string_view axis_key,
                 const Quality& quality) {
  Figure figure = make_figure(context, FigureKind::Box, id, kGpuFiguresSection, paper);
  figure.x = axis(context, axis_key);
  figure.y = axis(context, "spread", "points");
  Table table = make_table(context, id, kGpuFiguresSection, paper);
  table.columns = columns(context, {axis_key, "jobs"});
  for (const std::string_view key : {"mean", "median", "p90", "max"}) {
    table.columns.push_back(column(context, key, "points"));
  }
  table.columns.push_back(column(context, "small_spread", "%"));
  Series series{.key = "spread", .label = context.labels("axis.spread")};
  for (const Group& group : groups) {
    if (group.spreads.empty()) continue;
    std::vector<double> sorted = group.spreads;
    std::ranges::sort(sorted);
    figure.categories.push_back(group.label);
    series.boxes.push_back(box_of(sorted));
    table.rows.push_back({group.label, static_cast<int64_t>(sorted.size()),
                          *base::statistics::mean(sorted), *base::statistics::quantile(sorted, 0.5),
                          *base::statistics::quantile(sorted, 0.9), sorted.back(),
                          100 * base::statistics::Ecdf(sorted).share_at_most(kSmallSpread)});
    figure.quality.used += static_cast<int64_t>(sorted.size());
  }
  if (series.boxes.empty()) {
    add_absent(context, id, kGpuFiguresSection, paper, "reason.no_such_jobs");
    return;
  }
  figure.series.push_back(std::move(series));
  figure.quality.of = quality.of;
  figure.quality.note = quality.note;
  table.quality = figure.quality;
  context.report.figures.push_back(std::move(figure));
  context.report.tables.push_back(std::move(table));
}

}  // namespace

void add_gpu_figures(const Context& context) {
  if (context.use == nullptr) {
    for (const auto& [id, paper] :
         {std::pair("figure5a_used_gpus", "Figure 5a"),
          std::pair("figure5b_used_ratio", "Figure 5b"), std::pair("figure6a_one_gpu", "Figure 6a"),
          std::pair("figure6b_one_node", "Figure 6b"),
          std::pair("figure6c_multi_node", "Figure 6c"),
          std::pair("figure7a_one_node", "Figure 7a"),
          std::pair("figure7b_multi_node", "Figure 7b")}) {
      add_absent(context, id, kGpuFiguresSection, paper, "reason.needs_series");
    }
    return;
  }
  const Groups groups = gather(context);
  Quality quality{groups.all_known, groups.eligible, {}};
  if (groups.all_known < groups.eligible) {
    quality.note = context.labels.with("word.unknown_jobs", groups.eligible - groups.all_known);
  }
  add_used(context, groups, quality);
  add_means(context, "figure6a_one_gpu", "Figure 6a", {&groups.one_gpu}, quality);
  std::vector<const Group*> used;
  for (const Group& group : groups.by_used) used.push_back(&group);
  used.push_back(&groups.part);
  add_means(context, "figure6b_one_node", "Figure 6b", used, quality);
  Group multi{.key = "multi_node", .label = context.labels("word.multi_node")};
  for (const Group& group : groups.by_nodes) {
    multi.means.insert(multi.means.end(), group.means.begin(), group.means.end());
  }
  add_means(context, "figure6c_multi_node", "Figure 6c", {&multi}, quality);
  if (!multi.means.empty()) {
    const double busy = 100 - 100 * base::statistics::Ecdf(multi.means).share_at_most(kBusyJob);
    add_scalar(context, "multi_node_busy_share", kGpuFiguresSection,
               {static_cast<int64_t>(multi.means.size()), quality.of, quality.note}, busy, "%",
               "60 %");
  }
  std::vector<Group> one_node = groups.by_used;
  one_node.push_back(groups.part);
  add_spreads(context, "figure7a_one_node", "Figure 7a", one_node, "used_gpus", quality);
  add_spreads(context, "figure7b_multi_node", "Figure 7b", groups.by_nodes, "nodes", quality);
}

}  // namespace goban::site::analysis
