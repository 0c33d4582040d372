// Host resources used by jobs, from the accounting's high-water marks, and jobs without GPUs.
#include <algorithm>
#include <array>

#include "base/units.hpp"
#include "site/analysis/statistics.hpp"

namespace goban::site::analysis {
namespace {

constexpr std::string_view kHostUseSection = "host";

/// One measured quantity.
struct Amount {
  std::string_view key;
  std::string_view unit;
  std::vector<double> values;
};

std::vector<Amount> gather(const Population& population, int64_t& jobs) {
  std::vector<Amount> amounts = {{"host_memory", "GiB", {}},
                                 {"host_memory_share", "%", {}},
                                 {"read", "GiB", {}},
                                 {"written", "GiB", {}},
                                 {"cpu_busy", "%", {}}};
  for (const Job& job : population.jobs) {
    if (!job.selected) continue;
    ++jobs;
    const records::RecordRow& row = population.row(job);
    const records::UsageMarks marks = population.table->usage_of(row);
    const auto add = [&amounts](size_t i, double value) { amounts[i].values.push_back(value); };
    if (marks.mem_bytes_max >= 0) {
      const auto used = static_cast<double>(marks.mem_bytes_max);
      add(0, used / base::kGib);
      if (row.mem_bytes > 0) add(1, 100 * used / static_cast<double>(row.mem_bytes));
    }
    if (marks.read_bytes >= 0) add(2, static_cast<double>(marks.read_bytes) / base::kGib);
    if (marks.write_bytes >= 0) add(3, static_cast<double>(marks.write_bytes) / base::kGib);
    if (marks.cpu_s >= 0 && row.cpu_cores > 0 && job.run_s > 0) {
      add(4, 100 * marks.cpu_s / (row.cpu_cores * job.run_s));
    }
  }
  return amounts;
}

void add_amounts(const Context& context) {
  int64_t jobs = 0;
  std::vector<Amount> amounts = gather(context.population, jobs);
  Table table = make_table(context, "host_use", kHostUseSection);
  table.columns = columns(context, {"what", "unit", "jobs", "mean", "p10", "median", "p90", "max"});
  for (Amount& amount : amounts) {
    if (amount.values.empty()) continue;
    const std::string label = context.labels(std::string("word.").append(amount.key));
    std::ranges::sort(amount.values);
    const auto at = [&amount](double share) {
      return Cell(*base::statistics::quantile(amount.values, share));
    };
    const auto count = static_cast<int64_t>(amount.values.size());
    table.rows.push_back({label, std::string(amount.unit), count,
                          *base::statistics::mean(amount.values), at(0.1), at(0.5), at(0.9),
                          at(1)});
    table.quality.used = std::max(table.quality.used, count);
    Figure figure = make_figure(context, FigureKind::Step, amount.key, kHostUseSection);
    figure.x = axis(context, amount.key, amount.unit, amount.unit == "GiB");
    figure.y = axis(context, "share_of_jobs", "%");
    figure.series.push_back(distribution(amount.key, label, amount.values));
    figure.quality = {count, jobs, {}};
    context.report.figures.push_back(std::move(figure));
  }
  table.quality.of = jobs;
  if (table.rows.empty()) {
    add_absent(context, "host_use", kHostUseSection, {}, "reason.no_usage");
    return;
  }
  context.report.tables.push_back(std::move(table));
}

/// Jobs without GPUs, by kind.
void add_cpu_jobs(const Context& context) {
  const Population& population = context.population;
  std::vector<std::vector<double>> hours(population.site.kinds.size());
  std::vector<double> core_hours(population.site.kinds.size());
  int64_t without = 0;
  for (const Job& job : population.jobs) {
    if (job.verdict(Rule::Gpus) != Verdict::Fail) continue;
    ++without;
    hours[job.kind].push_back(job.run_h());
    core_hours[job.kind] += std::max(population.row(job).cpu_cores, 0) * job.run_h();
  }
  if (without == 0) {
    add_absent(context, "cpu_jobs", kHostUseSection, {}, "reason.no_cpu_jobs");
    return;
  }
  Table table = make_table(context, "cpu_jobs", kHostUseSection);
  table.columns = columns(context, {"kind", "ran"});
  for (const std::string_view key : {"mean", "median", "max"}) {
    table.columns.push_back(column(context, key, "h"));
  }
  table.columns.push_back(column(context, "core_hours", "core h"));
  for (size_t i = 0; i < hours.size(); ++i) {
    const auto summary = base::statistics::summarize(hours[i]);
    if (!summary) continue;
    table.rows.push_back({population.site.kinds[i].name, static_cast<int64_t>(summary->count),
                          summary->mean, summary->median, summary->max,
                          core_hours[i] > 0 ? Cell(core_hours[i]) : Cell()});
  }
  table.quality = {without, static_cast<int64_t>(population.jobs.size()), {}};
  context.report.tables.push_back(std::move(table));
}

}  // namespace

void add_host_use(const Context& context) {
  add_amounts(context);
  add_cpu_jobs(context);
}

}  // namespace goban::site::analysis
