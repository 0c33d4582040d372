// Jobs that were stopped at their walltime limit, and the share of their limits that jobs used.
#include <algorithm>

#include "site/analysis/statistics.hpp"

namespace goban::site::analysis {
namespace {

constexpr std::string_view kExceedanceSection = "outcomes";
constexpr std::string_view kId = "exceedance";

struct Counts {
  int64_t jobs = 0;
  int64_t exceeded = 0;
  double hours = 0;
  double exceeded_hours = 0;
  std::vector<double> used;  ///< run time / limit
};

}  // namespace

void add_exceedance(const Context& context) {
  const Population& population = context.population;
  const JobClasses classes(population.site);
  std::vector<Counts> counts(classes.all().size());
  Counts all;
  for (const Job& job : population.jobs) {
    if (!job.selected) continue;
    const records::RecordRow& row = population.row(job);
    for (Counts* count : {&counts[classes.of(job)], &all}) {
      ++count->jobs;
      count->exceeded += job.exceeded ? 1 : 0;
      count->hours += job.gpu_hours();
      count->exceeded_hours += job.exceeded ? job.gpu_hours() : 0;
      if (row.walltime_limit_ns > 0) {
        count->used.push_back(job.run_s / base::to_seconds(row.walltime_limit_ns));
      }
    }
  }
  if (all.exceeded == 0 && all.used.empty()) {
    add_absent(context, kId, kExceedanceSection, "Section 4.2", "reason.no_limits");
    return;
  }
  Table table = make_table(context, kId, kExceedanceSection, "Section 4.2");
  table.columns = columns(context, {"kind", "nodes", "jobs", "exceeded"});
  table.columns.push_back(column(context, "exceeded_share", "%"));
  table.columns.push_back(column(context, "exceeded_gpu_hours", "GPU h"));
  table.columns.push_back(column(context, "with_limit"));
  table.columns.push_back(column(context, "median_limit_used", "%"));
  const auto add_row = [&table](const std::string& kind, const std::string& nodes, Counts& count) {
    std::ranges::sort(count.used);
    const auto median = base::statistics::quantile(count.used, 0.5);
    table.rows.push_back(
        {kind, nodes, count.jobs, count.exceeded,
         percent(static_cast<double>(count.exceeded), static_cast<double>(count.jobs)),
         count.exceeded_hours, static_cast<int64_t>(count.used.size()),
         median ? Cell(100 * *median) : Cell()});
  };
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i].jobs > 0) add_row(classes.all()[i].kind, classes.all()[i].nodes, counts[i]);
  }
  const Quality told{all.jobs, all.jobs, {}};
  add_scalar(context, "exceeded_jobs", kExceedanceSection, told, all.exceeded, {}, "16,093");
  add_scalar(context, "exceeded_share", kExceedanceSection, told,
             percent(static_cast<double>(all.exceeded), static_cast<double>(all.jobs)), "%",
             "3.23 %");
  table.quality = {static_cast<int64_t>(all.used.size()), all.jobs, {}};
  if (!all.used.empty()) {
    std::vector<double> used = all.used;
    for (double& share : used) share *= 100;
    Figure figure = make_figure(context, FigureKind::Step, "limit_used", kExceedanceSection);
    figure.x = axis(context, "limit_used", "%");
    figure.y = axis(context, "share_of_jobs", "%");
    figure.series.push_back(distribution("all", context.labels("word.all"), used));
    figure.quality = table.quality;
    context.report.figures.push_back(std::move(figure));
  }
  add_row(context.labels("word.all"), "", all);
  context.report.tables.push_back(std::move(table));
}

}  // namespace goban::site::analysis
