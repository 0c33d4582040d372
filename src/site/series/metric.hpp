// What a series measures: its name, unit and resolution. The table is the one place for new kinds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace goban::site::series {

enum class Metric : uint8_t {
  GpuUtilization,
  GpuMemoryUtilization,
  GpuMemoryUsed,
  GpuPower,
  GpuTemperature,
  GpuSmClock,
  GpuMemoryClock,
  GpuEngineActive,
  GpuSmActive,
  GpuTensorActive,
  GpuDramActive,
  GpuProcesses,
  CpuUtilization,
  CpuClock,
  HostMemoryUsed,
  NodePower,
  NodeTemperature,
  FanSpeed,
};

/// Units that inputs come in.
enum class Unit : uint8_t {
  Percent,
  Ratio,  ///< 0 to 1
  Byte,
  Kibibyte,
  Mebibyte,
  Watt,
  Milliwatt,
  Celsius,
  Hertz,
  Megahertz,
  Count,
  Rpm,
};

/// How values of a metric are kept: as the whole number nearest to value / quantum.
struct MetricInfo {
  Metric metric = Metric::GpuUtilization;
  std::string_view name;  ///< also the folder in a store
  Unit unit = Unit::Percent;
  double quantum = 1;      ///< resolution, in the unit
  uint16_t code_max = 0;   ///< largest value / quantum; larger values are refused
  bool per_device = true;  ///< of a GPU; otherwise of a node, or of a part of it
  std::string_view meaning;
};

[[nodiscard]] std::span<const MetricInfo> metrics();
[[nodiscard]] const MetricInfo& info(Metric metric);
/// Errors: Usage, naming the nearest known metric.
[[nodiscard]] base::Result<Metric> parse_metric(std::string_view name);

[[nodiscard]] std::string_view name(Unit unit);
/// Errors: Usage, listing the known units.
[[nodiscard]] base::Result<Unit> parse_unit(std::string_view name);
/// How many of `to` one of `from` is; none if they measure different things.
[[nodiscard]] std::optional<double> factor(Unit from, Unit to);

}  // namespace goban::site::series
