#include "study/duration_report.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/knowledge/durations/duration_forecast.hpp"

namespace goban::study {
namespace {

using site::analysis::Cell;
using site::analysis::Figure;
using site::analysis::FigureKind;
using site::analysis::Quality;
using site::analysis::ReportData;
using site::analysis::Scalar;
using site::analysis::Series;
using site::analysis::Table;

constexpr const char* kSection = "prediction";

double percent(double share) { return 100 * share; }

std::string title_of(const std::string& rule) {
  if (rule == "method") return "this method";
  if (rule == "limit") return "the user's limit";
  if (rule == "last-two") return "mean of the user's last two runs";
  return "median of the user's similar runs";
}

void append_shares(std::vector<Cell>& row, const Coverage& coverage) {
  const auto jobs = static_cast<double>(coverage.jobs);
  row.emplace_back(coverage.jobs);
  row.emplace_back(percent(coverage.covered()));
  row.emplace_back(percent(static_cast<double>(coverage.below) / jobs));
  row.emplace_back(percent(static_cast<double>(coverage.above) / jobs));
}

Table coverage_table(std::string id, std::string title, site::analysis::Column first) {
  Table table{.id = std::move(id), .section = kSection, .title = std::move(title)};
  table.columns = {std::move(first),
                   {"jobs", "jobs judged", ""},
                   {"inside_pct", "inside the 80 % interval", "%"},
                   {"below_pct", "shorter", "%"},
                   {"above_pct", "longer", "%"}};
  return table;
}

Table rules_table(const DurationStudy& study) {
  Table table{
      .id = "predict_rules",
      .section = kSection,
      .title = "Errors of the median prediction, beside simple rules",
      .text =
          "ln: natural logarithm of predicted / actual; 0.69 is a factor of 2. Run times and "
          "predictions below 10 s count as 10 s, those above the limit as the limit. A rule is "
          "judged on the jobs that it could predict. Similar: the last 50 with the same name; "
          "without names, with as many GPUs."};
  table.columns = {{"rule", "rule", ""},
                   {"jobs", "jobs judged", ""},
                   {"median_ln", "median |ln|", ""},
                   {"within_2x_pct", "within a factor of 2", "%"},
                   {"pinball_median", "pinball loss at 0.5", ""},
                   {"method_pinball", "of this method, same jobs", ""}};
  for (const RuleErrors& rule : study.rules) {
    if (rule.jobs == 0) {
      table.rows.push_back({title_of(rule.rule), rule.jobs, {}, {}, {}, {}});
      continue;
    }
    table.rows.push_back({title_of(rule.rule), rule.jobs, rule.median_ln, percent(rule.within_2x),
                          rule.pinball_median, rule.method_pinball});
  }
  table.quality = {.used = study.judged, .of = study.jobs};
  return table;
}

Table parts_table(const DurationStudy& study) {
  const std::string part = study.part_days == 30 ? "30 days" : "7 days";
  Table table = coverage_table("predict_parts", fmt::format("Coverage by parts of {}", part),
                               {"first_day", "from day", ""});
  for (size_t i = 0; i < study.parts.size(); ++i) {
    if (study.parts[i].jobs == 0) continue;
    table.rows.push_back({static_cast<int64_t>(i) * study.part_days});
    append_shares(table.rows.back(), study.parts[i]);
  }
  return table;
}

Table familiarity_table(const DurationStudy& study) {
  constexpr std::array kNames = {"new users", "users with fewer than 8 runs", "other users"};
  Table table = coverage_table("predict_new_users", "Coverage by what was known of the user",
                               {"user", "user", ""});
  table.columns.push_back({"width", "width: 90 % / 10 % quantile", ""});
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (study.by_familiarity[i].jobs == 0) continue;
    table.rows.push_back({std::string(kNames[i])});
    append_shares(table.rows.back(), study.by_familiarity[i]);
    table.rows.back().emplace_back(study.width[i]);
  }
  return table;
}

Table basis_table(const DurationStudy& study) {
  Table table = coverage_table("predict_basis", "Coverage by what the prediction rests on",
                               {"basis", "most special group with runs", ""});
  for (size_t i = 0; i < study.by_basis.size(); ++i) {
    if (study.by_basis[i].jobs == 0) continue;
    const auto basis = static_cast<core::knowledge::DurationBasis>(i);
    table.rows.push_back({std::string(core::knowledge::text_of(basis))});
    append_shares(table.rows.back(), study.by_basis[i]);
  }
  return table;
}

Table users_table(const DurationStudy& study, const core::model::JobHistory& history) {
  Table table = coverage_table("predict_users", "Coverage by user, the least covered first",
                               {"user", "user", ""});
  table.text = "Users with at least 100 judged jobs.";
  for (const auto& [user, coverage] : study.users) {
    table.rows.push_back({std::string(history.users[user.index()])});
    append_shares(table.rows.back(), coverage);
  }
  return table;
}

Figure calibration_figure(const DurationStudy& study) {
  Figure figure{.id = "predict_calibration",
                .section = kSection,
                .title = "Calibration: share of the runs below each predicted quantile",
                .text = "On the diagonal, predicted quantiles hold.",
                .kind = FigureKind::Line,
                .x = {"level", "level of the quantile", "%"},
                .y = {"share", "runs below it", "%"}};
  Series measured{.key = "measured", .label = "measured"};
  Series ideal{.key = "ideal", .label = "ideal"};
  for (size_t i = 0; i < study.shares_below.size(); ++i) {
    const double level =
        percent((static_cast<double>(i) + 0.5) / static_cast<double>(study.shares_below.size()));
    measured.x.push_back(level);
    measured.y.push_back(percent(study.shares_below[i]));
    ideal.x.push_back(level);
    ideal.y.push_back(level);
  }
  figure.series = {std::move(measured), std::move(ideal)};
  figure.quality = {.used = study.judged, .of = study.jobs};
  return figure;
}

Figure parts_figure(const DurationStudy& study) {
  Figure figure{.id = "predict_coverage",
                .section = kSection,
                .title = "Coverage of the 80 % interval over time",
                .text = "",
                .kind = FigureKind::Line,
                .x = {"day", "day of the history", "d"},
                .y = {"inside", "inside the interval", "%"}};
  Series series{.key = "inside", .label = "inside"};
  for (size_t i = 0; i < study.parts.size(); ++i) {
    if (study.parts[i].jobs == 0) continue;
    series.x.push_back(static_cast<double>(static_cast<int64_t>(i) * study.part_days));
    series.y.push_back(percent(study.parts[i].covered()));
  }
  figure.series.push_back(std::move(series));
  return figure;
}

void add_scalars(ReportData& report, const DurationStudy& study) {
  const Quality quality{.used = study.judged, .of = study.jobs};
  const auto add = [&](const char* key, const char* label, Cell value, const char* unit) {
    report.scalars.push_back(Scalar{.key = key,
                                    .section = kSection,
                                    .label = label,
                                    .value = std::move(value),
                                    .unit = unit,
                                    .quality = quality});
  };
  add("judged", "jobs judged", study.judged, "");
  if (study.judged == 0) return;
  add("inside_pct", "run times inside the 80 % interval", percent(study.all.covered()), "%");
  add("pinball_mean", "mean pinball loss of ln(run time) at 0.1, 0.5 and 0.9", study.pinball_mean,
      "");
}

}  // namespace

ReportData duration_report(const DurationStudy& study, const core::model::JobHistory& history) {
  ReportData report;
  report.title = "Prediction of run times";
  report.sections = {{kSection, "Run times predicted at submission, from the runs ended by then"}};
  add_scalars(report, study);
  if (study.judged == 0) {
    report.absent.push_back({.id = "predict_rules",
                             .section = kSection,
                             .title = "Errors",
                             .reason = "too few runs: at least 20 must have ended before a judged "
                                       "job is submitted"});
    return report;
  }
  report.tables = {rules_table(study), parts_table(study), familiarity_table(study),
                   basis_table(study)};
  if (!study.users.empty()) report.tables.push_back(users_table(study, history));
  report.figures = {calibration_figure(study), parts_figure(study)};
  if (!study.ends_known) {
    report.remarks.push_back({.text =
                                  "The history has no start times: runs are taken to start when "
                                  "they were submitted."});
  }
  const bool without_names = study.rules.front().jobs > 0 && history.models.size() <= 1;
  if (without_names) {
    report.remarks.push_back(
        {.text = "The history has no job names: runs of the same user and size stand for them."});
  }
  return report;
}

}  // namespace goban::study
