// Submission times of jobs, and the GPUs that they hold per day.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/date_time.hpp"
#include "base/time.hpp"
#include "site/analysis/statistics.hpp"

namespace goban::site::analysis {
namespace {

constexpr std::string_view kCalendarSection = "waits";
constexpr int64_t kDaysMost = int64_t{40} * 366;

/// Start and end as recorded, or computed from submission, wait and run time.
struct Span {
  double start_s = 0;
  double end_s = 0;
};
/// Seconds of the zone's clock since 1970, for days, hours and weekdays.
int64_t local_s(const Context& context, int64_t unix_s) {
  return unix_s + context.rules.time_zone.offset_at(unix_s);
}

/// By the zone's clock at the start.
Span span_of(const Context& context, const records::RecordRow& row, const Job& job) {
  Span span;
  span.start_s = base::to_seconds(row.start_ns >= 0 ? row.start_ns : row.submit_ns);
  span.end_s = row.end_ns >= 0 && row.start_ns >= 0 ? base::to_seconds(row.end_ns)
                                                    : span.start_s + job.run_s;
  const auto start_s = static_cast<int64_t>(span.start_s);
  const auto offset_s = static_cast<double>(local_s(context, start_s) - start_s);
  span.start_s += offset_s;
  span.end_s += offset_s;
  return span;
}

/// GPU-hours by day. A run adds to every day that it overlaps.
class Days {
 public:
  /// Returns false and adds nothing for implausible runs: before time 0, or longer than kDaysMost.
  bool add(const Span& span, double gpus) {
    if (!(span.start_s >= 0) ||
        span.end_s - span.start_s > static_cast<double>(kDaysMost * base::kDay_s)) {
      return false;
    }
    for (auto day = static_cast<int64_t>(span.start_s) / base::kDay_s;
         static_cast<double>(day * base::kDay_s) < span.end_s; ++day) {
      const double from = std::max(span.start_s, static_cast<double>(day * base::kDay_s));
      const double to = std::min(span.end_s, static_cast<double>((day + 1) * base::kDay_s));
      hours_[day] += gpus * (to - from) / 3600;
    }
    return true;
  }
  /// Days without jobs between the first and the last day count as 0, unless the range exceeds
  /// kDaysMost: then a date must be wrong.
  void fill_gaps() {
    if (hours_.empty()) return;
    const int64_t first = hours_.begin()->first;
    const int64_t last = hours_.rbegin()->first;
    if (last - first >= kDaysMost) return;
    for (int64_t day = first; day <= last; ++day) hours_.try_emplace(day, 0);
  }
  [[nodiscard]] const std::map<int64_t, double>& all() const { return hours_; }

 private:
  std::map<int64_t, double> hours_;
};

std::string day_name(int64_t day, bool dated) {
  if (!dated) return fmt::format("{}", day + 1);
  return base::date_text(day * base::kDay);
}

void add_load(const Context& context, const Days& days, Quality quality, bool dated,
              bool with_starts) {
  Figure figure = make_figure(context, FigureKind::Line, "gpus_held", kCalendarSection);
  figure.x = axis(context, "day");
  figure.y = axis(context, "gpus_held");
  Table table = make_table(context, "gpus_held", kCalendarSection);
  table.detail = true;
  table.columns = columns(context, {"day"});
  table.columns.push_back(column(context, "gpu_hours", "GPU h"));
  table.columns.push_back(column(context, "gpus_held"));
  const int64_t gpus = context.population.site.num_gpus;
  if (gpus > 0) table.columns.push_back(column(context, "of_site", "%"));
  Series held{.key = "held", .label = context.labels("column.gpus_held")};
  double total = 0;
  for (const auto& [day, hours] : days.all()) {
    constexpr double kHoursOfDay = 24;
    const double mean = hours / kHoursOfDay;
    held.x.push_back(static_cast<double>(held.x.size()));
    held.y.push_back(mean);
    figure.categories.push_back(day_name(day, dated));
    table.rows.push_back({day_name(day, dated), hours, mean});
    if (gpus > 0) table.rows.back().push_back(percent(mean, static_cast<double>(gpus)));
    total += mean;
  }
  if (held.x.empty()) return;
  figure.series.push_back(std::move(held));
  if (!with_starts) quality.note = context.labels("word.start_assumed");
  figure.quality = table.quality = std::move(quality);
  const double mean = total / static_cast<double>(days.all().size());
  add_scalar(context, "mean_gpus_held", kCalendarSection, figure.quality, mean);
  if (gpus > 0) {
    add_scalar(context, "mean_held_share", kCalendarSection, figure.quality,
               percent(mean, static_cast<double>(gpus)), "%");
  }
  context.report.figures.push_back(std::move(figure));
  context.report.tables.push_back(std::move(table));
}

}  // namespace

void add_calendar(const Context& context) {
  const Population& population = context.population;
  std::array<std::array<int64_t, 24>, 7> arrivals{};
  Days days;
  int64_t submitted = 0;
  bool dated = true;
  bool with_starts = false;
  Quality of_gpus;
  for (const Job& job : population.jobs) {
    const records::RecordRow& row = population.row(job);
    with_starts |= row.start_ns >= 0;
    if (job.gpus > 0) {
      ++of_gpus.of;
      const bool dated_job = row.start_ns >= 0 || row.submit_ns >= 0;
      if (dated_job && days.add(span_of(context, row, job), job.held_gpus())) ++of_gpus.used;
    }
    if (row.submit_ns < 0) continue;
    dated &= row.submit_ns >= base::kUnixTimesFrom;
    const int64_t second = local_s(context, row.submit_ns / base::kSecond);
    constexpr int64_t kThursday = 3;  // 1970-01-01
    ++arrivals[static_cast<size_t>((second / base::kDay_s + kThursday) % 7)]
              [static_cast<size_t>(second % base::kDay_s / base::kHour_s)];
    ++submitted;
  }
  days.fill_gaps();
  add_load(context, days, std::move(of_gpus), dated, with_starts);
  if (submitted == 0 || !dated) {
    add_absent(context, "arrivals", kCalendarSection, {}, "reason.no_dates");
    return;
  }
  Figure figure = make_figure(context, FigureKind::Heatmap, "arrivals", kCalendarSection);
  figure.x = axis(context, "hour_utc");
  if (!context.rules.time_zone.is_utc()) {
    figure.x = {
        "hour_local", context.labels.with("axis.hour_local", context.rules.zone), {}, false};
  }
  figure.y = axis(context, "weekday");
  for (int hour = 0; hour < 24; ++hour) figure.categories.push_back(fmt::format("{}", hour));
  constexpr std::array kWeekdays = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
  for (size_t day = 0; day < kWeekdays.size(); ++day) {
    Series series{.key = kWeekdays[day],
                  .label = context.labels(std::string("word.") + kWeekdays[day])};
    series.y.assign(arrivals[day].begin(), arrivals[day].end());
    figure.series.push_back(std::move(series));
  }
  figure.quality = {submitted, static_cast<int64_t>(population.jobs.size()), {}};
  context.report.figures.push_back(std::move(figure));
}

}  // namespace goban::site::analysis
