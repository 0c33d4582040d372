// Metrics: name, unit and resolution. New metrics are added to this table only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// Units of inputs.
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

/// Storage of a metric's values: as the integer nearest to value / quantum.
struct MetricInfo {
  Metric metric = Metric::GpuUtilization;
  std::string_view name;  ///< also the folder name in a store
  Unit unit = Unit::Percent;
  double quantum = 1;      ///< resolution, in the unit
  uint16_t code_max = 0;   ///< maximum of value / quantum; larger values are rejected
  bool per_device = true;  ///< of a GPU; otherwise of a node, or of a part of it
  std::string_view meaning;
};

[[nodiscard]] std::span<const MetricInfo> metrics();
[[nodiscard]] const MetricInfo& info(Metric metric);
/// Errors: Usage, with the nearest metric name.
[[nodiscard]] base::Result<Metric> parse_metric(std::string_view name);

/// The metrics of these names, in their order; the error of the first name that is none.
[[nodiscard]] base::Result<std::vector<Metric>> parse_metrics(
    const std::vector<std::string>& names);

[[nodiscard]] std::string_view name(Unit unit);
/// Errors: Usage, with the supported units.
[[nodiscard]] base::Result<Unit> parse_unit(std::string_view name);
/// Number of `to` in one `from`; none if they measure different quantities.
[[nodiscard]] std::optional<double> factor(Unit from, Unit to);

}  // namespace goban::site::series
