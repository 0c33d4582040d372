// Queue waits of all jobs that ran, by kind, size and partition.
#include <algorithm>
#include <map>

#include "site/analysis/statistics.hpp"

namespace goban::site::analysis {
namespace {

constexpr std::string_view kWaitsSection = "waits";

std::vector<Cell> wait_row(const std::string& name, int64_t jobs, std::vector<double> hours) {
  std::ranges::sort(hours);
  const auto at = [&hours](double share) {
    const auto value = base::statistics::quantile(hours, share);
    return value ? Cell(*value) : Cell();
  };
  const auto mean = base::statistics::mean(hours);
  constexpr double kNinety = 0.9;
  constexpr double kNinetyNine = 0.99;
  return {name,
          jobs,
          static_cast<int64_t>(hours.size()),
          mean ? Cell(*mean) : Cell(),
          at(0.5),
          at(kNinety),
          at(kNinetyNine),
          at(1)};
}

std::vector<Column> wait_columns(const Context& context, std::string_view first) {
  std::vector<Column> all = columns(context, {first, "ran", "with_wait"});
  for (const std::string_view key : {"mean", "median", "p90", "p99", "max"}) {
    all.push_back(column(context, key, "h"));
  }
  return all;
}

/// Jobs and waits of a group.
struct Group {
  int64_t jobs = 0;
  std::vector<double> hours;
};

Table group_table(const Context& context, std::string_view id, std::string_view first,
                  const std::map<std::string, Group>& groups) {
  Table table = make_table(context, id, kWaitsSection);
  table.columns = wait_columns(context, first);
  for (const auto& [name, group] : groups) {
    table.rows.push_back(wait_row(name, group.jobs, group.hours));
    table.quality.used += static_cast<int64_t>(group.hours.size());
    table.quality.of += group.jobs;
  }
  return table;
}

}  // namespace

void add_waits(const Context& context) {
  const Population& population = context.population;
  const JobClasses classes(population.site);
  std::vector<Group> by_class(classes.all().size());
  std::map<std::string, Group> by_partition;
  std::vector<std::vector<double>> by_kind(population.site.kinds.size());
  Group all;
  const records::InternedColumn& partitions = population.table->partitions();
  std::vector<Group> partition_groups(partitions.size());
  for (const Job& job : population.jobs) {
    Group& group = by_class[classes.of(job)];
    const uint32_t partition = population.row(job).partition;
    ++group.jobs;
    ++all.jobs;
    if (partition != records::kNoName) ++partition_groups[partition].jobs;
    if (job.wait_s < 0) continue;
    const double hours = job.wait_s / 3600;
    group.hours.push_back(hours);
    all.hours.push_back(hours);
    by_kind[job.kind].push_back(hours);
    if (partition != records::kNoName) partition_groups[partition].hours.push_back(hours);
  }
  if (all.hours.empty()) {
    add_absent(context, "waits", kWaitsSection, {}, "reason.no_starts");
    return;
  }
  Table table = make_table(context, "waits", kWaitsSection);
  table.columns = wait_columns(context, "kind");
  for (size_t i = 0; i < by_class.size(); ++i) {
    if (by_class[i].jobs == 0) continue;
    table.rows.push_back(
        wait_row(classes.all()[i].name(), by_class[i].jobs, std::move(by_class[i].hours)));
  }
  table.rows.push_back(wait_row(context.labels("word.all"), all.jobs, all.hours));
  table.quality = {static_cast<int64_t>(all.hours.size()), all.jobs, {}};
  context.report.tables.push_back(std::move(table));
  if (partitions.size() > 1) {
    for (uint32_t i = 0; i < partitions.size(); ++i) {
      by_partition[std::string(partitions[i])] = std::move(partition_groups[i]);
    }
    context.report.tables.push_back(
        group_table(context, "waits_by_partition", "partition", by_partition));
  }
  Figure figure = make_figure(context, FigureKind::Step, "wait_distribution", kWaitsSection);
  figure.x = axis(context, "wait", "h", true);
  figure.y = axis(context, "share_of_jobs", "%");
  for (size_t i = 0; i < by_kind.size(); ++i) {
    const std::string& kind = population.site.kinds[i].name;
    if (!by_kind[i].empty()) figure.series.push_back(distribution(kind, kind, by_kind[i]));
  }
  figure.quality = {static_cast<int64_t>(all.hours.size()), all.jobs, {}};
  context.report.figures.push_back(std::move(figure));
  std::ranges::sort(all.hours);
  const Quality quality{static_cast<int64_t>(all.hours.size()), all.jobs, {}};
  add_scalar(context, "median_wait", kWaitsSection, quality,
             *base::statistics::quantile(all.hours, 0.5), "h");
  add_scalar(context, "mean_wait", kWaitsSection, quality, *base::statistics::mean(all.hours), "h");
}

}  // namespace goban::site::analysis
