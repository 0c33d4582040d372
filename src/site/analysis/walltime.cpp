// Table 2 and Figure 4: run times.
#include "base/statistics/ecdf.hpp"
#include "site/analysis/statistics.hpp"

namespace goban::site::analysis {
namespace {

constexpr std::string_view kWalltimeSection = "walltime";

/// The standard deviation with n - 1 is undefined for one value.
bool sd_known(size_t count, base::statistics::SigmaRule rule) {
  return count > 1 || rule == base::statistics::SigmaRule::Population;
}

void add_walltime_table(const Context& context, const JobClasses& classes,
                        const std::vector<std::vector<double>>& hours, const Quality& quality) {
  Table table = make_table(context, "table2_walltime", kWalltimeSection, "Table 2");
  table.columns = columns(context, {"kind", "nodes", "jobs"});
  for (const std::string_view key : {"mean", "sd", "median", "min", "max"}) {
    table.columns.push_back(column(context, key, "h"));
  }
  table.columns.push_back(column(context, "within_hour", "%"));
  table.columns.push_back(column(context, "within_day", "%"));
  std::vector<double> all;
  for (const std::vector<double>& part : hours) all.insert(all.end(), part.begin(), part.end());
  for (size_t i = 0; i <= hours.size(); ++i) {
    const bool last = i == hours.size();
    const std::vector<double>& values = last ? all : hours[i];
    const auto summary = base::statistics::summarize(values, context.rules.table_sigma);
    if (!summary) continue;
    const base::statistics::Ecdf ecdf(values);
    table.rows.push_back(
        {last ? context.labels("word.all") : classes.all()[i].kind,
         last ? std::string() : classes.all()[i].nodes, static_cast<int64_t>(summary->count),
         summary->mean,
         sd_known(summary->count, context.rules.table_sigma) ? Cell(summary->sd) : Cell(),
         summary->median, summary->min, summary->max, 100 * ecdf.share_at_most(1),
         100 * ecdf.share_at_most(kHoursPerDay)});
  }
  table.quality = quality;
  context.report.tables.push_back(std::move(table));
}

Figure new_cdf(const Context& context, std::string_view id, std::string_view paper) {
  Figure figure = make_figure(context, FigureKind::Step, id, kWalltimeSection, paper);
  figure.x = axis(context, "walltime", "h", true);
  figure.y = axis(context, "share_of_jobs", "%");
  return figure;
}

}  // namespace

void add_walltime(const Context& context) {
  const Population& population = context.population;
  const JobClasses classes(population.site);
  std::vector<std::vector<double>> hours(classes.all().size());
  std::vector<std::vector<double>> one_node(population.site.kinds.size());
  std::vector<std::vector<double>> multi_node(population.site.node_bins.size());
  Quality quality;
  std::vector<double> all;
  for (const Job& job : population.jobs) {
    if (!job.selected) continue;
    hours[classes.of(job)].push_back(job.run_h());
    all.push_back(job.run_h());
    (job.nodes == 1 ? one_node[job.kind] : multi_node[population.site.bin_of(job.nodes)])
        .push_back(job.run_h());
  }
  quality.used = quality.of = static_cast<int64_t>(all.size());
  if (all.empty()) {
    add_absent(context, "table2_walltime", kWalltimeSection, "Table 2", "reason.no_jobs");
    add_absent(context, "figure4a_one_node", kWalltimeSection, "Figure 4a", "reason.no_jobs");
    add_absent(context, "figure4b_multi_node", kWalltimeSection, "Figure 4b", "reason.no_jobs");
    return;
  }
  add_walltime_table(context, classes, hours, quality);
  const base::statistics::Ecdf ecdf(all);
  add_scalar(context, "within_hour_share", kWalltimeSection, quality, 100 * ecdf.share_at_most(1),
             "%", "70 %");
  add_scalar(context, "within_day_share", kWalltimeSection, quality,
             100 * ecdf.share_at_most(kHoursPerDay), "%", "93.9 - 98.3 %");
  Figure a = new_cdf(context, "figure4a_one_node", "Figure 4a");
  for (size_t i = 0; i < one_node.size(); ++i) {
    const std::string& kind = population.site.kinds[i].name;
    if (!one_node[i].empty()) a.series.push_back(distribution(kind, kind, one_node[i]));
    a.quality.used += static_cast<int64_t>(one_node[i].size());
  }
  a.quality.of = a.quality.used;
  Figure b = new_cdf(context, "figure4b_multi_node", "Figure 4b");
  std::vector<double> multi;
  for (size_t i = 0; i < multi_node.size(); ++i) {
    if (multi_node[i].empty()) continue;
    const std::string nodes = population.site.bin_name(i);
    b.series.push_back(
        distribution(nodes, context.labels.with("word.n_nodes", nodes), multi_node[i]));
    multi.insert(multi.end(), multi_node[i].begin(), multi_node[i].end());
  }
  b.quality.used = b.quality.of = static_cast<int64_t>(multi.size());
  if (!a.series.empty()) context.report.figures.push_back(std::move(a));
  if (b.series.empty()) {
    add_absent(context, "figure4b_multi_node", kWalltimeSection, "Figure 4b",
               "reason.no_multi_node");
    return;
  }
  add_scalar(context, "multi_within_day_share", kWalltimeSection, b.quality,
             100 * base::statistics::Ecdf(multi).share_at_most(kHoursPerDay), "%", "98 %");
  context.report.figures.push_back(std::move(b));
}

}  // namespace goban::site::analysis
