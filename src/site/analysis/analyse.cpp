#include "site/analysis/analyse.hpp"

#include "site/analysis/statistics.hpp"

namespace goban::site::analysis {

ReportData analyse(const Population& population, const Rules& rules, const Labels& labels,
                   const GpuUse* use, const SourceNames& names) {
  ReportData report;
  report.language = labels.language() == Language::Japanese ? "ja" : "en";
  report.title = labels("title.report");
  for (const std::string_view section : {"extraction", "mix", "walltime", "gpu_use", "users",
                                         "waits", "outcomes", "racks", "host", "what_if"}) {
    report.sections.push_back(
        {std::string(section), labels(std::string("section.").append(section))});
  }
  const Context context{population, rules, labels, report, use, names};
  add_funnel(context);
  add_resource_types(context);
  add_job_mix(context);
  add_walltime(context);
  add_size_walltime(context);
  add_gpu_figures(context);
  add_gpu_quality(context);
  add_gpu_flops(context);
  add_gpu_partial(context);
  add_consumers(context);
  add_waits(context);
  add_calendar(context);
  add_outcomes(context);
  add_exceedance(context);
  add_racks(context);
  add_host_use(context);
  add_what_ifs(context);
  return report;
}

}  // namespace goban::site::analysis
