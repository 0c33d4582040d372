#include "study/results/simulate_report.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/stacked_table.hpp"
#include "base/units.hpp"

namespace goban::study::results {

using base::human_seconds;

namespace {

/// 0.1234 -> "+12.3 %", with the error of a back-test "+12.3 ±1.5 %"; "?" if there is no error.
std::string gain_text(const Gain& gain, bool tested) {
  std::string out = fmt::format("{:+.1f}", 100 * gain.gain);
  if (tested) out += gain.error ? fmt::format(" ±{:.1f}", 100 * *gain.error) : " ±?";
  return out + " %";
}

std::string claim_text(const Gain& jct, const Gain& wait) {
  if (jct.claimed && wait.claimed) return "JCT, wait";
  if (jct.claimed) return "JCT";
  return wait.claimed ? "wait" : "not claimed";
}

/// How far each run is from what no schedule of exclusive GPUs can beat.
std::string bounds_lines(const Comparison& comparison) {
  const RunMetrics& reference = comparison.runs[comparison.reference];
  std::string out = fmt::format(
      "Bounds of the average JCT: {} if no job waited; {} at least on these GPUs, without "
      "sharing.\n",
      human_seconds(comparison.bounds->no_wait_s), human_seconds(comparison.bounds->lower_s));
  std::string closed;
  for (const RunMetrics& run : comparison.runs) {
    if (&run == &reference) continue;
    const double share = gap_closed(run.avg_jct_s, reference.avg_jct_s, *comparison.bounds);
    closed += fmt::format("{}{} {:.0f} %", closed.empty() ? "" : ", ", run.policy, 100 * share);
  }
  return out + fmt::format("Of the distance from {} to the bound: {}.\n", reference.policy, closed);
}

/// The lines below the table: the run with the lowest average JCT, and whether its gain is claimed.
std::string verdict(const Comparison& comparison) {
  const std::vector<RunMetrics>& runs = comparison.runs;
  const RunMetrics& reference = runs[comparison.reference];
  const auto best = std::ranges::min_element(runs, {}, &RunMetrics::avg_jct_s);
  std::string out =
      fmt::format("\n{}, {:.1f} ideal GPU-hours, makespan {} under {}. Lowest average JCT: {}",
                  base::counted(best->jobs, "job"), best->gpu_hours_ideal,
                  human_seconds(best->makespan_s), best->policy, best->policy);
  if (&*best != &reference && best->avg_jct_s > 0) {
    const Gain gain = jct_gain(*best, reference, comparison.backtest);
    out += fmt::format(", {:.1f} % below {}", 100 * gain.gain, reference.policy);
    if (comparison.backtest && !gain.claimed) out += ": not claimed, within the back-test's error";
  }
  out += ".\n";
  if (runs.size() > 1) out += fmt::format("Gains are relative to {}", reference.policy);
  if (runs.size() > 1 && comparison.backtest) {
    out += "; ± is the error of the back-test, and a gain within it is not claimed.\n";
  } else if (runs.size() > 1) {
    out += "; without --backtest their error is unknown.\n";
  }
  if (comparison.bounds) out += bounds_lines(comparison);
  return out;
}

}  // namespace

std::string comparison_table(const Comparison& comparison, size_t terminal_width) {
  constexpr size_t kTimeWidth = 10;
  const std::vector<RunMetrics>& runs = comparison.runs;
  const bool tested = comparison.backtest.has_value();
  struct Gains {
    std::string jct = "-", wait = "-", claim = "the site's";
  };
  std::vector<Gains> gains(runs.size());
  size_t gain_width = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (i == comparison.reference) continue;
    const Gain jct = jct_gain(runs[i], runs[comparison.reference], comparison.backtest);
    const Gain wait = wait_gain(runs[i], runs[comparison.reference], comparison.backtest);
    gains[i] = {gain_text(jct, tested), gain_text(wait, tested), claim_text(jct, wait)};
    gain_width = std::max(
        {gain_width, base::characters_of(gains[i].jct), base::characters_of(gains[i].wait)});
  }
  std::vector<base::StackedTable::Column> columns = {
      {.title = "policy", .right = false},
      {.title = "avg JCT", .width_min = kTimeWidth, .gap = 2},
      {.title = "gain", .width_min = gain_width, .gap = 2},
      {.title = "p50 JCT", .width_min = kTimeWidth},
      {.title = "p99 JCT", .width_min = kTimeWidth},
      {.title = "avg wait", .width_min = kTimeWidth},
      {.title = "gain", .width_min = gain_width, .gap = 2},
      {.title = "busy", .width_min = 6},
      {.title = "GPU-hours", .width_min = 10},
      {.title = "goodput"},
      {.title = "preempted"}};
  if (tested) columns.push_back({.title = "claimed", .right = false, .gap = 2});
  base::StackedTable table(std::move(columns));
  for (size_t i = 0; i < runs.size(); ++i) {
    const RunMetrics& run = runs[i];
    std::vector<std::string> cells = {run.policy,
                                      human_seconds(run.avg_jct_s),
                                      gains[i].jct,
                                      human_seconds(run.p50_jct_s),
                                      human_seconds(run.p99_jct_s),
                                      human_seconds(run.avg_wait_s),
                                      gains[i].wait,
                                      fmt::format("{:.1f}%", 100 * run.gpu_occupancy),
                                      fmt::format("{:.1f}", run.gpu_hours_consumed),
                                      fmt::format("{:.1f}%", 100 * run.goodput),
                                      fmt::format("{}", run.preemptions)};
    if (tested) cells.push_back(gains[i].claim);
    table.add(std::move(cells));
  }
  const std::string out = table.text(terminal_width);
  return runs.empty() ? out : out + verdict(comparison);
}

namespace {

std::string mean_line(const char* name, const MeanError& mean) {
  std::string out = fmt::format("  {:<10} recorded {}, simulated {}", name,
                                human_seconds(mean.recorded_s), human_seconds(mean.simulated_s));
  if (!mean.relative) return out + ": no relative error\n";
  out += fmt::format(": {:+.1f} %", 100 * *mean.relative);
  if (mean.low)
    out += fmt::format(", 95 % interval {:+.1f} to {:+.1f} %", 100 * *mean.low, 100 * *mean.high);
  return out + '\n';
}

}  // namespace

std::string backtest_text(const Backtest& test) {
  constexpr int64_t kDaysWanted = 7;
  std::string out =
      fmt::format("Back-test of {}: {} of {} ({} without a recorded start, {} in the warm-up)\n",
                  test.policy, base::counted(test.jobs, "job"), base::counted(test.days, "day"),
                  test.without_start, test.in_warmup);
  if (test.jobs == 0) return out;
  out += mean_line("mean wait", test.wait) + mean_line("mean JCT", test.jct);
  out += fmt::format("  wait per job: error {} mean, {} median, {} p90; bias {}\n",
                     human_seconds(test.error_abs_mean_s), human_seconds(test.error_abs_p50_s),
                     human_seconds(test.error_abs_p90_s), human_seconds(test.error_mean_s));
  out +=
      fmt::format("  within 1 min {:.1f} %, 5 min {:.1f} %, 10 % {:.1f} %; rank correlation {}\n",
                  100 * test.within_1min, 100 * test.within_5min, 100 * test.within_10percent,
                  test.rank_correlation ? fmt::format("{:.3f}", *test.rank_correlation) : "-");
  if (test.days < kDaysWanted) {
    out += fmt::format("  few days: an interval over {} is unreliable\n",
                       base::counted(test.days, "day"));
  }
  return out;
}

std::string elastic_lines(const std::vector<RunMetrics>& runs) {
  std::string out;
  const bool differ = std::ranges::any_of(
      runs, [&](const RunMetrics& run) { return run.timed_out != runs.front().timed_out; });
  for (const RunMetrics& run : runs) {
    if (!run.elastic) continue;
    const ElasticMetrics& elastic = *run.elastic;
    out += fmt::format("  {}: {} resizes of {}, {} elastic", run.policy, elastic.resizes,
                       base::counted(elastic.resized, "job"), elastic.jobs);
    if (elastic.interpolated > 0) {
      out += fmt::format("; {} ran at a speed that was interpolated, not measured",
                         base::counted(elastic.interpolated, "job"));
    }
    // Jobs that are killed end early: that is no gain.
    if (differ) {
      out += fmt::format("; {}", base::counted(run.timed_out, "job reached its walltime limit",
                                               "jobs reached their walltime limit"));
    }
    out += '\n';
  }
  return out.empty() ? out : "\nElastic jobs:\n" + out;
}

std::string starts_lines(const std::vector<RunMetrics>& runs) {
  std::string out;
  for (const RunMetrics& run : runs) {
    if (!run.starts) continue;
    const simulator::StartCoverage& starts = *run.starts;
    out += fmt::format("  {}: {} of {} had to wait", run.policy, starts.waited,
                       base::counted(starts.submitted, "job"));
    if (starts.judged == 0) {
      out += "; too few to judge forecasts\n";
      continue;
    }
    const auto percent = [&](int64_t count) {
      return 100 * static_cast<double>(count) / static_cast<double>(starts.judged);
    };
    out += fmt::format(
        "; of {} that were forecast {:.1f} % started in the 80 % interval ({:.1f} % before, {:.1f} "
        "% "
        "after; {:.1f} % without calibration), median width {}\n",
        starts.judged, percent(starts.inside), percent(starts.early), percent(starts.late),
        percent(starts.inside_raw), human_seconds(starts.width_s));
  }
  return out.empty() ? out : "\nForecasts of start times, made at submission:\n" + out;
}

std::string promises_lines(const std::vector<RunMetrics>& runs) {
  std::string out;
  for (const RunMetrics& run : runs) {
    const simulator::PromiseFigures& promises = run.promises;
    if (promises.late == 0) continue;
    out +=
        fmt::format("  {}: {} of {} ({:.1f} %) late; 95 % of these by at most {}\n", run.policy,
                    promises.late, base::counted(promises.made, "promised start"),
                    100 * static_cast<double>(promises.late) / static_cast<double>(promises.made),
                    human_seconds(promises.late_p95_s));
  }
  return out.empty() ? out : "\nPromised starts that were missed:\n" + out;
}

std::string worst_account_lines(const std::vector<RunMetrics>& runs) {
  size_t width = 0;
  for (const RunMetrics& run : runs) width = std::max(width, run.policy.size());
  std::string out;
  for (const RunMetrics& run : runs) {
    const AccountMetrics& worst = run.worst_account;
    if (worst.jobs == 0) continue;
    out += fmt::format("  {:<{}}  {}: slowdown {:.1f}, average wait {}, {}\n", run.policy, width,
                       worst.name.empty() ? "(no name)" : worst.name, worst.avg_slowdown,
                       human_seconds(worst.avg_wait_s), base::counted(worst.jobs, "job"));
  }
  return out.empty() ? out : "\nAccount with the highest average slowdown:\n" + out;
}

}  // namespace goban::study::results
