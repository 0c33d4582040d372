#include "cli/gpus/profile_report.hpp"

#include <cmath>
#include <ctime>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/date_time.hpp"
#include "cli/shell/text_table.hpp"

namespace goban::cli {
namespace {

using core::knowledge::GpuScores;
using core::knowledge::Kernel;
using core::knowledge::KernelScore;
using nlohmann::json;

std::string time_text(int64_t unix_s) { return base::date_time_text(unix_s * base::kSecond); }

std::string cell(const GpuScores& gpu, const KernelScore& score) {
  if (gpu.expired) return "-";
  std::string out = fmt::format("{:.3f}", score.score);
  if (score.low && score.high) out += fmt::format(" [{:.3f}, {:.3f}]", *score.low, *score.high);
  return out + (score.straggler ? " !" : "");
}

/// "12.0 % slower", "3.1 % faster".
std::string change_text(double log_ratio) {
  const double ratio = std::exp(log_ratio);
  return fmt::format("{:.1f} % {}", 100 * std::abs(ratio - 1), ratio > 1 ? "slower" : "faster");
}

std::string notes_of(const ProfileReport& report, size_t i) {
  const GpuScores& gpu = report.scores.gpus[i];
  std::string out;
  const auto add = [&](std::string_view text) {
    out += fmt::format("GPU {}: {}\n", report.machine.gpus[i].index, text);
  };
  if (gpu.expired_sessions > 0 && gpu.sessions <= 1) {
    add(fmt::format("{} earlier measurement(s) expired: driver, firmware, cores or kernels changed",
                    gpu.expired_sessions));
  }
  if (gpu.expired) add("not measured; its score in the table is 1");
  if (gpu.last != nullptr && gpu.last->forced) add("was busy while it was measured (--force)");
  for (const Kernel kernel : core::knowledge::kKernels) {
    const KernelScore& score = gpu.kernels[static_cast<size_t>(kernel)];
    if (score.straggler) {
      add(fmt::format("straggler, {}: {:.1f} % slower than the median GPU",
                      core::knowledge::kernel_name(kernel), 100 * (score.score - 1)));
    }
    if (!report.compare || !score.change) continue;
    add(fmt::format("{}: {} since {}{}", core::knowledge::kernel_name(kernel),
                    change_text(score.change->log_ratio), time_text(score.changed_unix_s),
                    score.change_is_new ? " (new)" : ""));
  }
  return out;
}

json kernel_json(const ProfileReport& report, const KernelScore& score, Kernel kernel) {
  json out = {{"class", std::string(1, static_cast<char>('A' + static_cast<int>(kernel)))},
              {"score", score.score},
              {"straggler", score.straggler}};
  if (score.low && score.high) {
    out["low"] = *score.low;
    out["high"] = *score.high;
  }
  if (!report.compare) return out;
  out["against_last"] = score.against_last;
  if (score.change) {
    out["change"] = {{"ratio", std::exp(score.change->log_ratio)},
                     {"since", time_text(score.changed_unix_s)},
                     {"new", score.change_is_new}};
  }
  return out;
}

}  // namespace

std::string report_text(const ProfileReport& report) {
  TextTable table({{"GPU", true, 5},
                   {"NAME", false, 24},
                   {"A COMPUTE", false, 30},
                   {"B MIXED", false, 30},
                   {"C MEMORY", false, 30},
                   {"MEASURED (UTC)", false, 20},
                   {"TIMES", true, 5},
                   {"NEIGHBOURS", true, 10},
                   {"DEG C", true, 5}});
  std::string notes;
  for (size_t i = 0; i < report.scores.gpus.size(); ++i) {
    const GpuScores& gpu = report.scores.gpus[i];
    const bool warm = gpu.last != nullptr && gpu.last->temperature_c >= 0;
    table.add({fmt::format("{}", report.machine.gpus[i].index), report.machine.gpus[i].name,
               cell(gpu, gpu.kernels[0]), cell(gpu, gpu.kernels[1]), cell(gpu, gpu.kernels[2]),
               gpu.last == nullptr ? "never" : time_text(gpu.last->unix_s),
               fmt::format("{}", gpu.sessions),
               gpu.last == nullptr ? "-" : fmt::format("{}", gpu.last->neighbours),
               warm ? fmt::format("{:.0f}", gpu.last->temperature_c) : "-"});
    notes += notes_of(report, i);
  }
  return table.text(output_style()) + notes;
}

json report_json(const ProfileReport& report) {
  json gpus = json::array();
  for (size_t i = 0; i < report.scores.gpus.size(); ++i) {
    const GpuScores& gpu = report.scores.gpus[i];
    json kernels = json::object();
    for (const Kernel kernel : core::knowledge::kKernels) {
      kernels[std::string(core::knowledge::kernel_name(kernel))] =
          kernel_json(report, gpu.kernels[static_cast<size_t>(kernel)], kernel);
    }
    json each = {{"gpu", report.machine.gpus[i].index},
                 {"uuid", report.machine.gpus[i].uuid},
                 {"name", report.machine.gpus[i].name},
                 {"measured_now", static_cast<bool>(report.measured[i])},
                 {"expired", gpu.expired},
                 {"expired_sessions", gpu.expired_sessions},
                 {"sessions", gpu.sessions},
                 {"kernels", std::move(kernels)}};
    if (gpu.last != nullptr) {
      each["measured"] = time_text(gpu.last->unix_s);
      each["driver"] = gpu.last->condition.driver;
      each["firmware"] = gpu.last->condition.firmware;
      if (gpu.last->temperature_c >= 0) each["temperature_c"] = gpu.last->temperature_c;
      each["neighbours"] = gpu.last->neighbours;
      each["forced"] = gpu.last->forced;
      each["blocks"] = gpu.last->block_s[0].size();
    }
    gpus.push_back(std::move(each));
  }
  return gpus;
}

}  // namespace goban::cli
