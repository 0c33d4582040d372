#include "cli/jobs/top_text.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/jobs/queue_table.hpp"
#include "cli/shell/text_table.hpp"

namespace goban::cli {

using nlohmann::json;

namespace {

double sum_of(const json& counts) {
  double sum = 0;
  for (const json& each : counts) sum += each.is_number() ? each.get<double>() : 0;
  return sum;
}

std::string gpu_counts(const json& gpus) {
  std::string text = base::counted(sum_of(gpus), "GPU");
  for (const char* state : {"busy", "shared", "free", "drained", "asleep", "down"}) {
    if (const double count = number_of(gpus, state); count > 0) {
      text += fmt::format(", {:.0f} {}", count, state);
    }
  }
  return text;
}

std::string job_counts(const json& jobs) {
  const double running = number_of(jobs, "running") + number_of(jobs, "starting") +
                         number_of(jobs, "stopping") + number_of(jobs, "suspended");
  return fmt::format(
      "jobs: {:.0f} running, {:.0f} waiting, {:.0f} with pending dependencies, {:.0f} held",
      running, number_of(jobs, "waiting"), number_of(jobs, "depends"), number_of(jobs, "held"));
}

std::string bar(double percent) {
  constexpr int kWidth = 10;
  const int full = static_cast<int>(std::lround(std::clamp(percent, 0.0, 100.0) / 100 * kWidth));
  return std::string(static_cast<size_t>(full), '#') +
         std::string(static_cast<size_t>(kWidth - full), '.');
}

std::string jobs_on(const json& gpu) {
  std::string out;
  for (const json& each : list_of(gpu, "jobs")) {
    if (each.is_number()) out += fmt::format("{}{}", out.empty() ? "" : ",", each.get<int64_t>());
  }
  return out;
}

void add_gpus(const json& node, TextTable& table) {
  int64_t index = 0;
  for (const json& gpu : list_of(node, "gpus")) {
    const double util = number_of(gpu, "util_pct", -1);
    const double used = number_of(gpu, "mem_used_bytes", -1);
    const double power = number_of(gpu, "power_w", -1);
    const double heat = number_of(gpu, "temperature_c", -1);
    const json& scores = list_of(gpu, "scores");
    const bool scored = !scores.empty() && scores.front().is_number();
    table.add({fmt::format("{}[{}]", text_of(node, "node"), index++), text_of(gpu, "state"),
               util >= 0 ? fmt::format("{} {:3.0f} %", bar(util), util) : "-",
               used >= 0 ? size_text(used) : "-", power >= 0 ? fmt::format("{:.0f} W", power) : "-",
               heat >= 0 ? fmt::format("{:.0f} C", heat) : "-",
               scored ? fmt::format("{:.3f}", scores.front().get<double>()) : "-", jobs_on(gpu)});
  }
}

std::string gpu_table(const json& cluster, const TerminalStyle& style) {
  TextTable table({{"GPU", false, 30},
                   {"STATE", false, 10},
                   {"UTILISATION", true, 20},
                   {"MEMORY", true, 12},
                   {"POWER", true, 10},
                   {"TEMP", true, 8},
                   {"SCORE A", true, 10},
                   {"JOBS", false, 30}});
  for (const json& rack : list_of(cluster, "racks")) {
    for (const json& node : list_of(rack, "nodes")) add_gpus(node, table);
  }
  return table.empty() ? "" : table.text(style) + "\n";
}

std::string first_lines(std::string text, size_t lines_max) {
  size_t at = 0;
  for (size_t line = 0; line < lines_max; ++line) {
    at = text.find('\n', at);
    if (at == std::string::npos) return text;
    ++at;
  }
  text.resize(at);
  return text;
}

}  // namespace

std::string top_text(const json& cluster, const json& jobs, const json& stats, double now_s,
                     size_t lines_max, const TerminalStyle& style) {
  std::string text = fmt::format("{}  {}\n{}\n{}\n\n", text_of(cluster, "name", "cluster"),
                                 moment_text(now_s, now_s), gpu_counts(part_of(stats, "gpus")),
                                 job_counts(part_of(stats, "jobs")));
  text += holds_text(stats) + gpu_table(cluster, style) +
          queue_table(jobs, {.now_s = now_s, .style = style});
  return lines_max > 0 ? first_lines(std::move(text), lines_max) : text;
}

std::string holds_text(const json& stats) {
  std::string text;
  for (const json& hold : list_of(stats, "launch_holds")) {
    text += fmt::format("launches on {} are held and tried again soon: {}\n", text_of(hold, "node"),
                        text_of(hold, "reason"));
  }
  return text;
}

std::string stats_text(const json& stats) {
  std::string text = fmt::format(
      "{}\n{}\n{} requested by waiting jobs\n", gpu_counts(part_of(stats, "gpus")),
      job_counts(part_of(stats, "jobs")), base::counted(number_of(stats, "waiting_gpus"), "GPU"));
  text += fmt::format("{}, {} since the daemon started\n",
                      base::counted(number_of(stats, "inputs"), "input"),
                      base::counted(number_of(stats, "decisions"), "decision"));
  if (const json& decide = part_of(stats, "decide_s"); decide.is_object()) {
    text += fmt::format("a decision takes {:.3g} ms (p50), {:.3g} ms (p99), {:.3g} ms (maximum)\n",
                        number_of(decide, "p50") * 1e3, number_of(decide, "p99") * 1e3,
                        number_of(decide, "max") * 1e3);
  }
  if (number_of(stats, "journal_failures") > 0) {
    text += fmt::format(
        "{:.0f} journal writes failed{}\n", number_of(stats, "journal_failures"),
        flag_of(stats, "journal_is_stuck") ? "; the journal cannot be written now" : "");
  }
  return text + holds_text(stats);
}

}  // namespace goban::cli
