#include <fmt/format.h>

#include "base/stacked_table.hpp"
#include "base/units.hpp"
#include "study/results/simulate_report.hpp"

namespace goban::study::results {

using base::human_seconds;

namespace {

constexpr size_t kOutcomeWidth = 10;
constexpr size_t kKwhWidth = 12;

/// Relative change of a run's value against the reference.
std::string less_text(double value, double reference) {
  return reference > 0 ? fmt::format("{:+.1f} %", 100 * (value / reference - 1)) : "-";
}

std::string predictions_text(const ServiceMetrics& service) {
  std::string out;
  for (size_t i = 1; i < service.predictions.size(); ++i) {
    if (service.predictions[i] == 0) continue;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", service.predictions[i],
                       level_name(static_cast<core::knowledge::PredictionLevel>(i)));
  }
  return out.empty() ? "none" : out;
}

}  // namespace

std::string energy_table(const Comparison& comparison, size_t terminal_width) {
  const std::vector<RunMetrics>& runs = comparison.runs;
  if (runs.empty() || !runs[comparison.reference].energy) return {};
  constexpr size_t kD = static_cast<size_t>(core::knowledge::kHeadline);
  const EnergyMetrics& reference = *runs[comparison.reference].energy;
  base::StackedTable table({{.title = "policy", .right = false},
                            {.title = "D: may sleep", .width_min = kKwhWidth, .gap = 2},
                            {.title = "change", .width_min = 9},
                            {.title = "A: active", .width_min = kKwhWidth},
                            {.title = "B: idle on", .width_min = kKwhWidth},
                            {.title = "C: EaCO only", .width_min = kKwhWidth},
                            {.title = "nodes active", .width_min = kKwhWidth}});
  for (const RunMetrics& run : runs) {
    const EnergyMetrics& energy = *run.energy;
    const bool itself = &run == &runs[comparison.reference];
    table.add({run.policy, fmt::format("{:.2f}", energy.kwh[kD]),
               itself ? "-" : less_text(energy.kwh[kD], reference.kwh[kD]),
               fmt::format("{:.2f}", energy.kwh[0]), fmt::format("{:.2f}", energy.kwh[1]),
               fmt::format("{:.2f}", energy.kwh[2]),
               fmt::format("{:.2f}", energy.avg_active_nodes)});
  }
  return "\nEnergy of the cluster, kWh\n" + table.text(terminal_width);
}

std::string service_table(const std::vector<RunMetrics>& runs, size_t terminal_width) {
  if (runs.empty() || !runs.front().service) return {};
  base::StackedTable table({{.title = "policy", .right = false},
                            {.title = "deadlines missed", .width_min = 17, .gap = 2},
                            {.title = "epoch", .width_min = kOutcomeWidth},
                            {.title = "slowdown", .width_min = 9},
                            {.title = "p99", .width_min = 9},
                            {.title = "worst user"},
                            {.title = "Jain", .width_min = 6},
                            {.title = "undone"},
                            {.title = "moved", .width_min = 6},
                            {.title = "predictions for shared GPUs", .right = false, .gap = 2}});
  for (const RunMetrics& run : runs) {
    const ServiceMetrics& s = *run.service;
    table.add({run.policy, fmt::format("{} of {}", s.deadline_misses, s.deadline_jobs),
               s.avg_epoch_s ? human_seconds(*s.avg_epoch_s) : "-",
               fmt::format("{:.3f}", s.avg_slowdown), fmt::format("{:.2f}", s.p99_slowdown),
               fmt::format("{:.3f}", s.worst_user_slowdown), fmt::format("{:.3f}", s.jain_index),
               fmt::format("{}", s.undo_count), fmt::format("{}", s.moves), predictions_text(s)});
  }
  return '\n' + table.text(terminal_width);
}

std::string staging_table(const std::vector<RunMetrics>& runs, size_t terminal_width) {
  if (runs.empty() || !runs.front().staging) return {};
  constexpr double kGigabyte = 1e9;
  base::StackedTable table({{.title = "policy", .right = false},
                            {.title = "cache hits", .width_min = 14, .gap = 2},
                            {.title = "GB in", .width_min = kOutcomeWidth},
                            {.title = "GB hit", .width_min = kOutcomeWidth},
                            {.title = "GB out", .width_min = kOutcomeWidth},
                            {.title = "avg stage", .width_min = kOutcomeWidth},
                            {.title = "evicted", .width_min = 9},
                            {.title = "link busy", .width_min = kOutcomeWidth}});
  for (const RunMetrics& run : runs) {
    const simulator::StagingFigures& s = *run.staging;
    const auto gigabytes = [](int64_t bytes) {
      return fmt::format("{:.1f}", static_cast<double>(bytes) / kGigabyte);
    };
    table.add({run.policy, fmt::format("{} of {}", s.hits, s.jobs), gigabytes(s.in_bytes),
               gigabytes(s.hit_bytes), gigabytes(s.out_bytes), human_seconds(s.avg_stage_s()),
               fmt::format("{}", s.evictions), human_seconds(s.link_busy_s)});
  }
  return "\nStaging\n" + table.text(terminal_width);
}

}  // namespace goban::study::results
