// From all records to the analysed jobs (the paper's extraction, conditions 1 to 5).
#include "site/analysis/statistics.hpp"

namespace goban::site::analysis {

void add_funnel(const Context& context) {
  const Population& population = context.population;
  Table table = make_table(context, "funnel", "extraction", "Section 3");
  table.columns = columns(
      context, {"rule", "meaning", "applied", "before", "passed", "failed", "unknown", "kept"});
  table.columns.push_back(column(context, "of_all", "%"));
  Figure figure = make_figure(context, FigureKind::Bar, "funnel_kept", "extraction", "Section 3");
  figure.x = axis(context, "rule");
  figure.y = axis(context, "jobs");
  Series kept{.key = "kept", .label = context.labels("column.kept")};
  const auto all = static_cast<double>(population.records);
  for (size_t i = 0; i < kNumRules; ++i) {
    const RuleCount& count = population.funnel[i];
    const std::string rule(key(static_cast<Rule>(i)));
    const auto asked = [&count](int64_t number) { return count.applied ? Cell(number) : Cell(); };
    table.rows.push_back({rule, context.labels("rule." + rule),
                          context.labels(count.applied ? "word.yes" : count.reason), count.before,
                          asked(count.passed), asked(count.failed), asked(count.unknown),
                          count.kept, percent(static_cast<double>(count.kept), all)});
    figure.categories.push_back(rule);
    kept.y.push_back(static_cast<double>(count.kept));
  }
  const int64_t selected = population.num_selected();
  table.quality = {selected, population.records, {}};
  figure.quality = table.quality;
  figure.series.push_back(std::move(kept));
  const Quality everything{population.records, population.records, {}};
  add_scalar(context, "records", "extraction", everything, population.records, {}, "2,501,437");
  add_scalar(context, "analysed_jobs", "extraction", everything, selected, {}, "497,730");
  add_scalar(context, "analysed_share", "extraction", everything,
             percent(static_cast<double>(selected), all), "%", "19.9 %");
  double all_hours = 0;
  double analysed_hours = 0;
  int64_t of_known_gpus = 0;
  for (const Job& job : population.jobs) {
    of_known_gpus += job.gpus >= 0 ? 1 : 0;
    all_hours += job.gpu_hours();
    analysed_hours += job.selected ? job.gpu_hours() : 0;
  }
  const Quality of_hours{of_known_gpus, static_cast<int64_t>(population.jobs.size()), {}};
  if (of_known_gpus > 0) {
    add_scalar(context, "all_gpu_hours", "extraction", of_hours, all_hours, "GPU h");
    add_scalar(context, "analysed_gpu_hours", "extraction", {selected, selected, {}},
               analysed_hours, "GPU h");
    add_scalar(context, "analysed_gpu_hours_share", "extraction", of_hours,
               percent(analysed_hours, all_hours), "%");
  }
  context.report.tables.push_back(std::move(table));
  context.report.figures.push_back(std::move(figure));
}

}  // namespace goban::site::analysis
