#include "site/series/metric.hpp"

#include <array>
#include <fmt/format.h>
#include <vector>

#include "base/check.hpp"
#include "base/nearest.hpp"

namespace goban::site::series {
namespace {

using enum Metric;

// In the order of the enumeration. nvidia-smi reports integer percent; DCGM's ratios are finer. 16
// MiB in 16 bits reach 1 TiB.
constexpr std::array<MetricInfo, 18> kMetrics{{
    {GpuUtilization, "gpu_utilization", Unit::Percent, 1, 100, true,
     "share of the last sampling window with a kernel resident"},
    {GpuMemoryUtilization, "gpu_memory_utilization", Unit::Percent, 1, 100, true,
     "share of the last sampling window with memory traffic"},
    {GpuMemoryUsed, "gpu_memory_used", Unit::Mebibyte, 16, 65000, true, "memory in use"},
    {GpuPower, "gpu_power", Unit::Watt, 1, 65000, true, "power draw"},
    {GpuTemperature, "gpu_temperature", Unit::Celsius, 1, 250, true, "core temperature"},
    {GpuSmClock, "gpu_sm_clock", Unit::Megahertz, 1, 65000, true, "SM clock"},
    {GpuMemoryClock, "gpu_memory_clock", Unit::Megahertz, 1, 65000, true, "memory clock"},
    {GpuEngineActive, "gpu_engine_active", Unit::Percent, 0.5, 200, true,
     "share of time with the graphics or compute engine active"},
    {GpuSmActive, "gpu_sm_active", Unit::Percent, 0.5, 200, true,
     "share of time with a warp on a multiprocessor, averaged over them"},
    {GpuTensorActive, "gpu_tensor_active", Unit::Percent, 0.5, 200, true,
     "share of cycles with the tensor pipe active"},
    {GpuDramActive, "gpu_dram_active", Unit::Percent, 0.5, 200, true,
     "share of cycles with memory traffic"},
    {GpuProcesses, "gpu_processes", Unit::Count, 1, 250, true, "processes with a context"},
    {CpuUtilization, "cpu_utilization", Unit::Percent, 1, 100, false, "share of CPU time not idle"},
    {CpuClock, "cpu_clock", Unit::Megahertz, 1, 65000, false, "CPU clock"},
    {HostMemoryUsed, "host_memory_used", Unit::Mebibyte, 64, 65000, false, "host memory in use"},
    {NodePower, "node_power", Unit::Watt, 1, 65000, false, "power draw of the node"},
    {NodeTemperature, "node_temperature", Unit::Celsius, 1, 250, false,
     "inlet, CPU or other temperature"},
    {FanSpeed, "fan_speed", Unit::Rpm, 10, 65000, false, "fan speed"},
}};

struct UnitInfo {
  Unit unit = Unit::Percent;
  std::string_view name;
  char quantity = ' ';  // units of one quantity convert into each other
  double factor = 1;
};

constexpr std::array<UnitInfo, 12> kUnits{{
    {Unit::Percent, "percent", '%', 1},
    {Unit::Ratio, "ratio", '%', 100},
    {Unit::Byte, "bytes", 'B', 1},
    {Unit::Kibibyte, "KiB", 'B', 1024},
    {Unit::Mebibyte, "MiB", 'B', 1048576},
    {Unit::Watt, "W", 'W', 1},
    {Unit::Milliwatt, "mW", 'W', 0.001},
    {Unit::Celsius, "C", 'C', 1},
    {Unit::Hertz, "Hz", 'h', 1},
    {Unit::Megahertz, "MHz", 'h', 1e6},
    {Unit::Count, "count", 'n', 1},
    {Unit::Rpm, "rpm", 'r', 1},
}};

const UnitInfo& unit_info(Unit unit) { return kUnits[static_cast<size_t>(unit)]; }

}  // namespace

std::span<const MetricInfo> metrics() { return kMetrics; }

const MetricInfo& info(Metric metric) {
  const MetricInfo& found = kMetrics[static_cast<size_t>(metric)];
  GOBAN_CHECK(found.metric == metric);
  return found;
}

base::Result<Metric> parse_metric(std::string_view name) {
  std::vector<std::string_view> known;
  for (const MetricInfo& metric : kMetrics) {
    if (metric.name == name) return metric.metric;
    known.push_back(metric.name);
  }
  const auto nearest = base::nearest_name(name, known);
  return base::usage_error(fmt::format("unknown metric '{}'", name),
                           nearest.empty() ? fmt::format("known: {}", fmt::join(known, ", "))
                                           : fmt::format("did you mean '{}'?", nearest));
}

std::string_view name(Unit unit) { return unit_info(unit).name; }

base::Result<Unit> parse_unit(std::string_view name) {
  std::vector<std::string_view> known;
  for (const UnitInfo& unit : kUnits) {
    if (unit.name == name) return unit.unit;
    known.push_back(unit.name);
  }
  return base::usage_error(fmt::format("unknown unit '{}'", name),
                           fmt::format("known: {}", fmt::join(known, ", ")));
}

std::optional<double> factor(Unit from, Unit to) {
  if (unit_info(from).quantity != unit_info(to).quantity) return std::nullopt;
  return unit_info(from).factor / unit_info(to).factor;
}

base::Result<std::vector<Metric>> parse_metrics(const std::vector<std::string>& names) {
  std::vector<Metric> out;
  for (const std::string& name : names) {
    const auto metric = parse_metric(name);
    if (!metric) return base::failure(metric.error());
    out.push_back(*metric);
  }
  return out;
}

}  // namespace goban::site::series
