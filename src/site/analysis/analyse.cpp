#include "site/analysis/analyse.hpp"

#include <algorithm>

#include "base/date_time.hpp"
#include "site/analysis/statistics.hpp"

namespace goban::site::analysis {
namespace {

/// A day of the report's zone, `2019-04-05`.
std::string day_of(const Rules& rules, base::TimeNs time_ns) {
  const base::TimeNs offset_ns = rules.time_zone.offset_at(time_ns / base::kSecond) * base::kSecond;
  return base::date_text(std::max<base::TimeNs>(time_ns + offset_ns, 0));
}

/// Days from the first to the last moment of the jobs that ran, within the period of the rules.
/// Unknown if the records count time from another origin than 1970.
Head head_of(const Population& population, const Rules& rules, const SourceNames& names) {
  Head head{.site = names.site, .from = {}, .to = {}, .zone = rules.zone, .date = names.date};
  base::TimeNs first_ns = -1;
  base::TimeNs last_ns = -1;
  for (const Job& job : population.jobs) {
    const records::RecordRow& row = population.row(job);
    const base::TimeNs start_ns = row.start_ns >= 0 ? row.start_ns : row.submit_ns;
    if (start_ns < base::kUnixTimesFrom) continue;
    const base::TimeNs end_ns =
        row.end_ns >= 0 ? row.end_ns : base::add_saturating(start_ns, row.run_ns);
    if (first_ns < 0 || start_ns < first_ns) first_ns = start_ns;
    last_ns = std::max(last_ns, end_ns);
  }
  if (rules.period.from_ns >= 0) first_ns = std::max(first_ns, rules.period.from_ns);
  if (rules.period.to_ns >= 0) last_ns = std::min(last_ns, rules.period.to_ns - 1);
  if (first_ns < 0 || last_ns < first_ns) return head;
  head.from = day_of(rules, first_ns);
  head.to = day_of(rules, last_ns);
  return head;
}

/// `Analysis of the job history: abci, 2019-04-05 to 2020-03-31 (Asia/Tokyo), made 2020-04-02`.
std::string title_of(const Head& head, const Labels& labels) {
  std::string facts = head.site;
  const auto add = [&facts](const std::string& fact) {
    if (!facts.empty()) facts += ", ";
    facts += fact;
  };
  if (!head.from.empty()) add(labels.with("head.period", head.from, head.to, head.zone));
  if (!head.date.empty()) add(labels.with("head.date", head.date));
  const std::string title = labels("title.report");
  return facts.empty() ? title : labels.with("head.site", title, facts);
}

}  // namespace

ReportData analyse(const Population& population, const Rules& rules, const Labels& labels,
                   const GpuUse* use, const SourceNames& names) {
  ReportData report;
  report.language = labels.language() == Language::Japanese ? "ja" : "en";
  report.head = head_of(population, rules, names);
  report.title = title_of(report.head, labels);
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
