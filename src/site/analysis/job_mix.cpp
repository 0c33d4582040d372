// Table 1 (resource types of the site) and Figures 2 and 3 (jobs by type and size).
#include <algorithm>
#include <bit>
#include <map>

#include "base/time.hpp"
#include "base/units.hpp"
#include "site/analysis/statistics.hpp"

namespace goban::site::analysis {
namespace {

constexpr std::string_view kJobMixSection = "mix";

/// Values of a kind from the records.
struct KindSeen {
  int64_t jobs = 0;
  int32_t nodes_max = 0;
  int32_t cores_max = 0;
  int64_t mem_max = -1;
  base::TimeNs limit_max_ns = 0;
  double run_max_s = 0;
};

std::vector<KindSeen> look_at_kinds(const Population& population) {
  std::vector<KindSeen> seen(population.site.kinds.size());
  for (const Job& job : population.jobs) {
    const records::RecordRow& row = population.row(job);
    KindSeen& kind = seen[job.kind];
    ++kind.jobs;
    kind.nodes_max = std::max(kind.nodes_max, job.nodes);
    kind.cores_max = std::max(kind.cores_max, row.cpu_cores / std::max(job.nodes, 1));
    if (row.mem_bytes >= 0) {
      kind.mem_max = std::max(kind.mem_max, row.mem_bytes / std::max(job.nodes, 1));
    }
    kind.limit_max_ns = std::max(kind.limit_max_ns, row.walltime_limit_ns);
    kind.run_max_s = std::max(kind.run_max_s, job.run_s);
  }
  return seen;
}

constexpr auto kHour = static_cast<double>(base::kHour);

/// A bar chart of jobs by category, and a table with counts and shares.
void add_share_figure(const Context& context, std::string_view id, std::string_view axis_key,
                      const std::vector<std::pair<std::string, double>>& parts,
                      std::string_view paper, Quality quality) {
  double all = 0;
  for (const auto& part : parts) all += part.second;
  Figure figure = make_figure(context, FigureKind::Bar, id, kJobMixSection, paper);
  figure.x = axis(context, axis_key);
  figure.y = axis(context, "share_of_jobs", "%");
  Table table = make_table(context, id, kJobMixSection, paper);
  table.columns = columns(context, {axis_key, "jobs"});
  table.columns.push_back(column(context, "share", "%"));
  Series series{.key = "share", .label = context.labels("column.share")};
  for (const auto& [name, jobs] : parts) {
    figure.categories.push_back(name);
    series.y.push_back(all > 0 ? 100 * jobs / all : 0);
    table.rows.push_back({name, static_cast<int64_t>(jobs), percent(jobs, all)});
  }
  figure.series.push_back(std::move(series));
  figure.quality = table.quality = std::move(quality);
  table.detail = true;
  context.report.figures.push_back(std::move(figure));
  context.report.tables.push_back(std::move(table));
}

/// Numbers of jobs in the categories of Figure 2.
struct Mix {
  std::vector<double> by_kind;
  double one_gpu = 0, one_node = 0, multi_node = 0;
  double whole_single = 0, whole_multi = 0;
  double single_node_h = 0, multi_node_h = 0;
  std::map<int32_t, int64_t> by_nodes;  ///< multi-node jobs of whole nodes
  int64_t selected = 0;
};

Mix count_mix(const Population& population) {
  Mix mix;
  mix.by_kind.assign(population.site.kinds.size(), 0);
  for (const Job& job : population.jobs) {
    if (!job.selected) continue;
    ++mix.selected;
    ++mix.by_kind[job.kind];
    ++(job.nodes > 1 ? mix.multi_node : job.gpus == 1 ? mix.one_gpu : mix.one_node);
    if (!population.whole_node(job)) continue;
    if (job.nodes > 1) {
      ++mix.whole_multi;
      ++mix.by_nodes[job.nodes];
      mix.multi_node_h += job.node_hours();
    } else {
      ++mix.whole_single;
      mix.single_node_h += job.node_hours();
    }
  }
  return mix;
}

void add_mix_scalars(const Context& context, const Mix& mix) {
  const auto all = static_cast<double>(mix.selected);
  const Quality every{mix.selected, mix.selected, {}};
  add_scalar(context, "one_gpu_share", kJobMixSection, every, percent(mix.one_gpu, all), "%",
             "49.42 %");
  add_scalar(context, "one_node_share", kJobMixSection, every, percent(mix.one_node, all), "%",
             "48.19 %");
  add_scalar(context, "multi_node_share", kJobMixSection, every, percent(mix.multi_node, all), "%",
             "2.4 %");
  const double whole = mix.whole_single + mix.whole_multi;
  const auto quality = [](double jobs) {
    return Quality{static_cast<int64_t>(jobs), static_cast<int64_t>(jobs), {}};
  };
  add_scalar(context, "whole_single_share", kJobMixSection, quality(whole),
             percent(mix.whole_single, whole), "%", "95 %");
  double two = 0;
  double powers = 0;
  double up_to_eight = 0;
  constexpr int32_t kEight = 8;
  for (const auto& [nodes, jobs] : mix.by_nodes) {
    const auto count = static_cast<double>(jobs);
    if (nodes == 2) two += count;
    if (std::has_single_bit(static_cast<uint32_t>(nodes))) powers += count;
    if (nodes <= kEight) up_to_eight += count;
  }
  const Quality multi = quality(mix.whole_multi);
  add_scalar(context, "two_nodes_share", kJobMixSection, multi, percent(two, mix.whole_multi), "%",
             "55 %");
  add_scalar(context, "powers_of_two_share", kJobMixSection, multi,
             percent(powers, mix.whole_multi), "%", "90.7 %");
  add_scalar(context, "up_to_eight_share", kJobMixSection, multi,
             percent(up_to_eight, mix.whole_multi), "%", "80 %");
}

void add_node_hours(const Context& context, const Mix& mix, const Quality& quality) {
  const double all = mix.single_node_h + mix.multi_node_h;
  Figure figure = make_figure(context, FigureKind::StackedBar, "figure3_node_hours", kJobMixSection,
                              "Figure 3");
  figure.x = axis(context, "kind");
  figure.y = axis(context, "node_hours", "node h");
  figure.categories = {context.labels("word.whole_nodes")};
  Table table = make_table(context, "figure3_node_hours", kJobMixSection, "Figure 3");
  table.columns = columns(context, {"part"});
  table.columns.push_back(column(context, "node_hours", "node h"));
  table.columns.push_back(column(context, "share", "%"));
  for (const auto& [key, hours] :
       {std::pair("single_node", mix.single_node_h), std::pair("multi_node", mix.multi_node_h)}) {
    const std::string label = context.labels(std::string("word.") + key);
    figure.series.push_back({.key = key, .label = label, .y = {hours}});
    table.rows.push_back({label, hours, percent(hours, all)});
  }
  figure.quality = table.quality = quality;
  table.detail = true;
  add_scalar(context, "multi_node_hours_share", kJobMixSection, quality,
             percent(mix.multi_node_h, all), "%", "34.13 %");
  context.report.figures.push_back(std::move(figure));
  context.report.tables.push_back(std::move(table));
}

}  // namespace

namespace {

/// An empty cell if the value is unknown or unlimited.
template <typename Number>
Cell if_positive(Number number) {
  if (number <= 0) return {};
  return number;
}

/// Columns of Table 1 for a type: GPUs, cores, memory, SSD, maximum instances, walltime limit.
void append_offer(std::vector<Cell>& row, const core::model::ResourceType& type) {
  row.emplace_back(int64_t{type.gpus});
  row.push_back(if_positive(int64_t{type.host.cores}));
  row.push_back(if_positive(static_cast<double>(type.host.mem_bytes) / base::kGib));
  row.push_back(if_positive(static_cast<double>(type.host.ssd_bytes) / base::kGib));
  row.push_back(if_positive(int64_t{type.max_instances}));
  row.push_back(if_positive(static_cast<double>(type.walltime_max_ns) / kHour));
}

/// Without a cluster: the maximum requests of jobs of the type.
core::model::ResourceType offered(const JobKindInfo& kind, const KindSeen& seen) {
  if (kind.offered) return *kind.offered;
  core::model::ResourceType type;
  type.gpus = kind.gpus;
  type.host.cores = seen.cores_max;
  type.host.mem_bytes = seen.mem_max;
  type.max_instances = 0;
  return type;
}

}  // namespace

void add_resource_types(const Context& context) {
  const Population& population = context.population;
  Table table = make_table(context, "table1_resource_types", kJobMixSection, "Table 1");
  table.columns = columns(context, {"kind", "gpus", "cores"});
  table.columns.push_back(column(context, "memory", "GiB"));
  table.columns.push_back(column(context, "ssd", "GiB"));
  table.columns.push_back(column(context, "instances_max"));
  table.columns.push_back(column(context, "walltime_max", "h"));
  table.columns.push_back(column(context, "nodes_max"));
  table.columns.push_back(column(context, "limit_max", "h"));
  table.columns.push_back(column(context, "run_max", "h"));
  table.columns.push_back(column(context, "jobs"));
  const auto add_row = [&table](const std::string& name, const core::model::ResourceType& type,
                                const KindSeen& kind) {
    std::vector<Cell> row;
    row.emplace_back(name);
    append_offer(row, type);
    row.emplace_back(kind.jobs > 0 ? Cell(int64_t{kind.nodes_max}) : Cell());
    row.emplace_back(kind.limit_max_ns > 0 ? Cell(static_cast<double>(kind.limit_max_ns) / kHour)
                                           : Cell());
    row.emplace_back(kind.jobs > 0 ? Cell(kind.run_max_s / 3600) : Cell());
    row.emplace_back(kind.jobs);
    table.rows.push_back(std::move(row));
  };
  const std::vector<KindSeen> seen = look_at_kinds(population);
  for (size_t i = 0; i < seen.size(); ++i) {
    const JobKindInfo& kind = population.site.kinds[i];
    add_row(kind.name, offered(kind, seen[i]), seen[i]);
  }
  for (const core::model::ResourceType& type : population.site.unused_types) {
    add_row(type.name, type, {});
  }
  const auto jobs = static_cast<int64_t>(population.jobs.size());
  table.quality = {jobs, population.records, {}};
  context.report.tables.push_back(std::move(table));
}

namespace {

/// Not in the paper: jobs by the number of GPUs requested.
void add_gpu_counts(const Context& context) {
  struct Count {
    int64_t ran = 0;
    int64_t jobs = 0;
    double gpu_hours = 0;      ///< of analysed jobs
    double all_gpu_hours = 0;  ///< of all jobs that ran
  };
  std::map<int32_t, Count> counts;
  int64_t known = 0;
  for (const Job& job : context.population.jobs) {
    if (job.gpus < 0) continue;
    ++known;
    Count& count = counts[job.gpus];
    ++count.ran;
    count.jobs += job.selected ? 1 : 0;
    count.gpu_hours += job.selected ? job.gpu_hours() : 0;
    count.all_gpu_hours += job.gpu_hours();
  }
  Table table = make_table(context, "gpu_counts", kJobMixSection);
  table.columns = columns(context, {"gpus", "ran", "jobs"});
  table.columns.push_back(column(context, "all_gpu_hours", "GPU h"));
  table.columns.push_back(column(context, "gpu_hours", "GPU h"));
  for (const auto& [gpus, count] : counts) {
    table.rows.push_back(
        {int64_t{gpus}, count.ran, count.jobs, count.all_gpu_hours, count.gpu_hours});
  }
  table.quality = {known, static_cast<int64_t>(context.population.jobs.size()), {}};
  context.report.tables.push_back(std::move(table));
}

}  // namespace

void add_job_mix(const Context& context) {
  const Population& population = context.population;
  const Mix mix = count_mix(population);
  const Quality quality{mix.selected, mix.selected, {}};
  std::vector<std::pair<std::string, double>> kinds;
  for (size_t i = 0; i < mix.by_kind.size(); ++i) {
    if (mix.by_kind[i] > 0) kinds.emplace_back(population.site.kinds[i].name, mix.by_kind[i]);
  }
  add_share_figure(context, "figure2a_kinds", "kind", kinds, "Figure 2a", quality);
  add_share_figure(context, "figure2b_whole_nodes", "part",
                   {{context.labels("word.single_node"), mix.whole_single},
                    {context.labels("word.multi_node"), mix.whole_multi}},
                   "Figure 2b", quality);
  std::vector<std::pair<std::string, double>> nodes;
  for (const auto& [count, jobs] : mix.by_nodes) {
    nodes.emplace_back(fmt::format("{}", count), static_cast<double>(jobs));
  }
  add_share_figure(context, "figure2c_nodes", "nodes", nodes, "Figure 2c", quality);
  add_node_hours(context, mix, quality);
  add_mix_scalars(context, mix);
  add_gpu_counts(context);
}

}  // namespace goban::site::analysis
