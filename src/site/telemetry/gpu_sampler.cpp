#include "site/telemetry/gpu_sampler.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

#include "base/clock.hpp"
#include "base/field_splitter.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "site/series/input/nvidia_smi.hpp"

namespace goban::site::telemetry {
namespace {

using series::Metric;
using series::Unit;

struct Column {
  std::string_view query;
  Metric metric = Metric::GpuUtilization;
  Unit unit = Unit::Percent;
};
constexpr std::array<Column, 7> kColumns{{
    {"utilization.gpu", Metric::GpuUtilization, Unit::Percent},
    {"utilization.memory", Metric::GpuMemoryUtilization, Unit::Percent},
    {"memory.used", Metric::GpuMemoryUsed, Unit::Mebibyte},
    {"power.draw", Metric::GpuPower, Unit::Watt},
    {"temperature.gpu", Metric::GpuTemperature, Unit::Celsius},
    {"clocks.current.sm", Metric::GpuSmClock, Unit::Megahertz},
    {"clocks.current.memory", Metric::GpuMemoryClock, Unit::Megahertz},
}};
constexpr size_t kIdentities = 4;  // index, uuid, name, mig.mode.current

/// Calls visit(line) for every line that is not blank; stops at the first failure.
template <typename Visit>
base::Status for_lines(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = base::trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (auto visited = visit(line); !visited) return visited;
  }
  return {};
}

base::Status bad_row(std::string_view line) {
  constexpr size_t kShown = 120;
  return base::bad_data({"nvidia-smi", 0, 0, {}},
                        fmt::format("not a row of the query: {}", line.substr(0, kShown)));
}

}  // namespace

std::string gpu_query() {
  std::string query = "--query-gpu=index,uuid,name,mig.mode.current";
  for (const Column& column : kColumns) query += fmt::format(",{}", column.query);
  return query;
}

base::Result<std::vector<SampledGpu>> parse_gpu_rows(std::string_view text) {
  std::vector<SampledGpu> gpus;
  base::FieldSplitter splitter;
  const auto parsed = for_lines(text, [&](std::string_view line) -> base::Status {
    if (!splitter.split(line)) return bad_row(line);
    const auto fields = splitter.fields();
    if (fields.size() != kIdentities + kColumns.size()) return bad_row(line);
    SampledGpu gpu;
    gpu.index = base::trimmed(fields[0]);
    gpu.uuid = base::trimmed(fields[1]);
    gpu.name = base::trimmed(fields[2]);
    gpu.mig = base::trimmed(fields[3]) == "Enabled";
    if (!base::parse_int(gpu.index) || gpu.uuid.empty()) return bad_row(line);
    for (size_t i = 0; i < kColumns.size(); ++i) {
      const auto reading = series::parse_nvidia_smi_cell(fields[kIdentities + i],
                                                         kColumns[i].metric, kColumns[i].unit);
      if (!reading) return bad_row(line);
      if (reading->state == series::State::Missing) continue;
      gpu.readings.emplace_back(kColumns[i].metric, *reading);
    }
    gpus.push_back(std::move(gpu));
    return {};
  });
  if (!parsed) return base::failure(parsed.error());
  if (gpus.empty()) {
    return base::bad_data({"nvidia-smi", 0, 0, {}}, "the output lists no GPU");
  }
  return gpus;
}

base::Status count_processes(std::string_view text, std::vector<SampledGpu>& gpus) {
  std::vector<uint64_t> counts(gpus.size(), 0);
  auto counted = for_lines(text, [&](std::string_view line) -> base::Status {
    const size_t comma = line.find(',');
    if (comma == std::string_view::npos ||
        !base::parse_int(base::trimmed(line.substr(comma + 1)))) {
      return bad_row(line);
    }
    const auto gpu =
        std::ranges::find(gpus, base::trimmed(line.substr(0, comma)), &SampledGpu::uuid);
    if (gpu != gpus.end()) ++counts[static_cast<size_t>(gpu - gpus.begin())];
    return {};
  });
  if (!counted) return counted;
  for (size_t i = 0; i < gpus.size(); ++i) {
    if (!gpus[i].mig) gpus[i].processes = counts[i];
  }
  return {};
}

std::optional<double> HostSampler::cpu_util_pct() {
  std::ifstream file(proc_ + "/stat");
  std::string name;
  file >> name;
  std::array<uint64_t, 8> ticks{};  // user nice system idle iowait irq softirq steal
  for (uint64_t& tick : ticks) file >> tick;
  if (!file || name != "cpu") return std::nullopt;
  uint64_t total = 0;
  for (const uint64_t tick : ticks) total += tick;
  const uint64_t busy = total - ticks[3] - ticks[4];
  const uint64_t before_total = std::exchange(total_, total);
  const uint64_t before_busy = std::exchange(busy_, busy);
  if (before_total == 0 || total <= before_total || busy < before_busy) return std::nullopt;
  return 100 * static_cast<double>(busy - before_busy) / static_cast<double>(total - before_total);
}

std::optional<int64_t> HostSampler::mem_used_bytes() const {
  std::ifstream file(proc_ + "/meminfo");
  std::optional<int64_t> total_kib;
  std::optional<int64_t> available_kib;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    int64_t kib = 0;
    if (!(words >> name >> kib)) continue;
    if (name == "MemTotal:") total_kib = kib;
    if (name == "MemAvailable:") available_kib = kib;
  }
  constexpr int64_t kKibibyte = 1024;
  if (!total_kib || !available_kib) return std::nullopt;
  return (*total_kib - *available_kib) * kKibibyte;
}

GpuSampler::GpuSampler(const SamplerOptions& options)
    : smi_(options.program.empty() ? "nvidia-smi" : options.program, options.interrupted),
      timeout_s_(options.timeout_s) {
  if (options.program.empty()) {
    if (auto library = base::gpus::NvmlLibrary::load()) nvml_.emplace(std::move(*library));
  }
  (void)host_.cpu_util_pct();
}

Sampling GpuSampler::sample_program() {
  Sampling result;
  const base::TimeNs begin_ns = base::steady_ns();
  const base::gpus::ProgramOutput rows =
      smi_.run({gpu_query(), "--format=csv,noheader,nounits"}, timeout_s_);
  result.time_ms = base::wall_ns() / base::kMillisecond;
  result.duration_s = base::to_seconds(base::steady_ns() - begin_ns);
  result.problem = rows.problem;
  if (!result.problem.empty()) return result;
  auto gpus = parse_gpu_rows(rows.out);
  if (!gpus) {
    result.problem = gpus.error().text();
    return result;
  }
  result.gpus = std::move(*gpus);
  const base::gpus::ProgramOutput apps =
      smi_.run({"--query-compute-apps=gpu_uuid,pid", "--format=csv,noheader"}, timeout_s_);
  // On failure the GPUs are still reported, without their processes.
  if (apps.problem.empty()) (void)count_processes(apps.out, result.gpus);
  return result;
}

Sampling GpuSampler::sample() {
  Sampling result = nvml_ ? nvml_->sample(timeout_s_) : sample_program();
  result.cpu_util_pct = host_.cpu_util_pct();
  result.host_mem_used_bytes = host_.mem_used_bytes();
  return result;
}

}  // namespace goban::site::telemetry
