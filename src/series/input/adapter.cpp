#include "series/input/adapter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "base/config.hpp"

namespace goban::series {
namespace {

using enum Metric;

const std::vector<std::string> kNodeLabels{"node",     "Hostname", "hostname",
                                           "nodename", "host",     "instance"};

struct Known {
  std::string_view name;
  Metric metric = GpuUtilization;
  Unit unit = Unit::Percent;
};

constexpr std::array<Known, 11> kDcgm{{
    {"DCGM_FI_DEV_GPU_UTIL", GpuUtilization, Unit::Percent},
    {"DCGM_FI_DEV_MEM_COPY_UTIL", GpuMemoryUtilization, Unit::Percent},
    {"DCGM_FI_DEV_FB_USED", GpuMemoryUsed, Unit::Mebibyte},
    {"DCGM_FI_DEV_POWER_USAGE", GpuPower, Unit::Watt},
    {"DCGM_FI_DEV_GPU_TEMP", GpuTemperature, Unit::Celsius},
    {"DCGM_FI_DEV_SM_CLOCK", GpuSmClock, Unit::Megahertz},
    {"DCGM_FI_DEV_MEM_CLOCK", GpuMemoryClock, Unit::Megahertz},
    {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", GpuEngineActive, Unit::Ratio},
    {"DCGM_FI_PROF_SM_ACTIVE", GpuSmActive, Unit::Ratio},
    {"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", GpuTensorActive, Unit::Ratio},
    {"DCGM_FI_PROF_DRAM_ACTIVE", GpuDramActive, Unit::Ratio},
}};

constexpr std::array<Known, 7> kNvidiaGpuExporter{{
    {"nvidia_smi_utilization_gpu_ratio", GpuUtilization, Unit::Ratio},
    {"nvidia_smi_utilization_memory_ratio", GpuMemoryUtilization, Unit::Ratio},
    {"nvidia_smi_memory_used_bytes", GpuMemoryUsed, Unit::Byte},
    {"nvidia_smi_power_draw_watts", GpuPower, Unit::Watt},
    {"nvidia_smi_temperature_gpu", GpuTemperature, Unit::Celsius},
    {"nvidia_smi_clocks_current_sm_clock_hz", GpuSmClock, Unit::Hertz},
    {"nvidia_smi_clocks_current_memory_clock_hz", GpuMemoryClock, Unit::Hertz},
}};

// minor_number is the number of /dev/nvidiaN; the ordinal of the newer exporter can differ from it.
constexpr std::array<Known, 4> kJobstats{{
    {"nvidia_gpu_duty_cycle", GpuUtilization, Unit::Percent},
    {"nvidia_gpu_memory_used_bytes", GpuMemoryUsed, Unit::Byte},
    {"nvidia_gpu_power_usage_milliwatts", GpuPower, Unit::Milliwatt},
    {"nvidia_gpu_temperature_celsius", GpuTemperature, Unit::Celsius},
}};

constexpr std::array<Known, 8> kGoban{{
    {"goban_gpu_utilization_percent", GpuUtilization, Unit::Percent},
    {"goban_gpu_memory_utilization_percent", GpuMemoryUtilization, Unit::Percent},
    {"goban_gpu_memory_used_bytes", GpuMemoryUsed, Unit::Byte},
    {"goban_gpu_power_watts", GpuPower, Unit::Watt},
    {"goban_gpu_temperature_celsius", GpuTemperature, Unit::Celsius},
    {"goban_gpu_sm_clock_hertz", GpuSmClock, Unit::Hertz},
    {"goban_gpu_memory_clock_hertz", GpuMemoryClock, Unit::Hertz},
    {"goban_gpu_processes", GpuProcesses, Unit::Count},
}};

struct KnownNode {
  std::string_view exporter;
  std::string_view name;
  Metric metric = NodePower;
  Unit unit = Unit::Watt;
  std::string_view device_label;
  std::string_view second_label;
};

constexpr std::array<KnownNode, 7> kNode{{
    {"goban", "goban_cpu_utilization_percent", CpuUtilization, Unit::Percent, "", ""},
    {"goban", "goban_host_memory_used_bytes", HostMemoryUsed, Unit::Byte, "", ""},
    {"node_exporter", "node_cpu_scaling_frequency_hertz", CpuClock, Unit::Hertz, "cpu", ""},
    {"node_exporter", "node_hwmon_temp_celsius", NodeTemperature, Unit::Celsius, "chip", "sensor"},
    {"ipmi_exporter", "ipmi_dcmi_power_consumption_watts", NodePower, Unit::Watt, "", ""},
    {"ipmi_exporter", "ipmi_temperature_celsius", NodeTemperature, Unit::Celsius, "name", ""},
    {"ipmi_exporter", "ipmi_fan_speed_rpm", FanSpeed, Unit::Rpm, "name", ""},
}};

}  // namespace

std::string_view label(const Labels& labels, std::string_view name) {
  const auto found = std::ranges::find(labels, name, &Labels::value_type::first);
  return found == labels.end() ? std::string_view{} : std::string_view(found->second);
}

AdapterTable AdapterTable::builtin() {
  AdapterTable table;
  const auto add = [&](const Adapter& adapter) { table.adapters_.emplace(adapter.name, adapter); };
  const auto add_all = [&](std::string_view exporter, std::span<const Known> known,
                           std::vector<std::string> device, std::string_view uuid) {
    for (const Known& one : known) {
      add({std::string(exporter), std::string(one.name), Role::Sample, one.metric, one.unit,
           kNodeLabels, device, std::string(uuid)});
    }
  };
  add_all("dcgm", kDcgm, {"gpu", "GPU_I_ID"}, "UUID");
  add_all("nvidia_gpu_exporter", kNvidiaGpuExporter, {}, "uuid");
  add_all("jobstats", kJobstats, {"minor_number"}, "uuid");
  add_all("goban", kGoban, {"gpu"}, "uuid");
  for (const KnownNode& one : kNode) {
    std::vector<std::string> device;
    for (const std::string_view name : {one.device_label, one.second_label}) {
      if (!name.empty()) device.emplace_back(name);
    }
    add({std::string(one.exporter), std::string(one.name), Role::Sample, one.metric, one.unit,
         kNodeLabels, device, ""});
  }
  add({"nvidia_gpu_exporter", "nvidia_smi_index", Role::Index, GpuUtilization, Unit::Count,
       kNodeLabels, {}, "uuid"});
  add({"goban", "goban_gpu_sample_time_seconds", Role::Freshness, GpuUtilization, Unit::Count,
       kNodeLabels, {}, ""});
  return table;
}

base::Status AdapterTable::add_file(const std::string& toml, const std::string& file) {
  const auto parsed = base::parse_config(toml, file);
  if (!parsed) return base::failure(parsed.error());
  base::ConfigProblems problems(file);
  base::TableReader document(*parsed, "", problems);
  document.require("adapter", "write [[adapter]] name = \"...\" metric = \"...\" unit = \"...\"");
  for (base::TableReader& table : document.tables("adapter")) {
    Adapter adapter;
    adapter.exporter = file;
    table.require("name", "give the metric's name as Prometheus knows it");
    adapter.name = table.text("name");
    const std::string role = table.text("role", "sample");
    if (role == "freshness" || role == "index") {
      adapter.role = role == "index" ? Role::Index : Role::Freshness;
    } else if (role == "sample") {
      table.require("metric", "such as \"gpu_utilization\"");
      table.require("unit", "such as \"percent\" or \"ratio\"");
      const auto metric = parse_metric(table.text("metric", "gpu_utilization"));
      const auto unit = parse_unit(table.text("unit", "percent"));
      if (!metric) table.refuse("metric", metric.error().message, metric.error().remedy);
      if (!unit) table.refuse("unit", unit.error().message, unit.error().remedy);
      if (metric && unit && !factor(*unit, info(*metric).unit)) {
        table.refuse("unit", fmt::format("'{}' is no unit of {}", name(*unit), info(*metric).name),
                     fmt::format("it is kept in {}", name(info(*metric).unit)));
      }
      adapter.metric = metric.value_or(GpuUtilization);
      adapter.unit = unit.value_or(Unit::Percent);
    } else {
      table.refuse("role", fmt::format("there is no role '{}'", role),
                   "known: sample, freshness, index");
    }
    adapter.node_labels = table.texts("node");
    if (adapter.node_labels.empty()) adapter.node_labels = kNodeLabels;
    adapter.device_labels = table.texts("device");
    adapter.uuid_label = table.text("uuid");
    table.finish();
    adapters_.insert_or_assign(adapter.name, std::move(adapter));
  }
  document.finish();
  return problems.status();
}

void AdapterTable::keep(std::span<const Metric> metrics) {
  if (metrics.empty()) return;
  std::erase_if(adapters_, [&](const auto& entry) {
    return entry.second.role == Role::Sample &&
           std::ranges::find(metrics, entry.second.metric) == metrics.end();
  });
}

const Adapter* AdapterTable::find(std::string_view name) const {
  const auto found = adapters_.find(name);
  return found == adapters_.end() ? nullptr : &found->second;
}

const std::pair<std::string, std::string>* AdapterTable::node_label(const Adapter& adapter,
                                                                    const Labels& labels) {
  for (const std::string& wanted : adapter.node_labels) {
    const auto found = std::ranges::find(labels, wanted, &Labels::value_type::first);
    if (found != labels.end() && !found->second.empty()) return &*found;
  }
  return nullptr;
}

std::optional<DeviceKey> AdapterTable::device(const Adapter& adapter, const Labels& labels) const {
  const auto* node = node_label(adapter, labels);
  if (node == nullptr) return std::nullopt;
  DeviceKey device{node->second, "", std::string(label(labels, adapter.uuid_label))};
  if (node->first == "instance") {
    const size_t colon = device.node.rfind(':');
    const bool port = colon != std::string::npos && colon > 0 &&
                      device.node.find_first_not_of("0123456789", colon + 1) == std::string::npos;
    if (port) device.node.resize(colon);
  }
  if (short_node_names) device.node.resize(std::min(device.node.find('.'), device.node.size()));
  for (const std::string& name : adapter.device_labels) {
    const std::string_view part = label(labels, name);
    if (part.empty()) continue;
    if (!device.device.empty()) device.device += '.';
    device.device += part;
  }
  return device;
}

Reading reading_of(const Adapter& adapter, double raw) {
  constexpr double kBlank = 0x1p62;  // DCGM: 9223372036854775792 and its neighbours
  if (std::isnan(raw) || raw >= kBlank) return {State::NotAvailable, 0};
  return {State::Value, raw * factor(adapter.unit, info(adapter.metric).unit).value_or(1)};
}

void SideFacts::add_freshness(const std::string& node, int64_t time_ms, double value) {
  freshness_[node].emplace_back(time_ms, value);
}

void SideFacts::add_index(const std::string& uuid, double index) {
  if (index >= 0 && index < 4096 && !uuid.empty()) {
    index_of_uuid_[uuid] = std::to_string(static_cast<int>(index));
  }
}

void SideFacts::sort() {
  for (auto& [node, times] : freshness_) std::ranges::sort(times);
}

bool SideFacts::stale(const std::string& node, int64_t time_ms) const {
  const auto found = freshness_.find(node);
  if (found == freshness_.end()) return false;
  const auto& times = found->second;
  const auto behind = std::ranges::upper_bound(times, time_ms, {}, &std::pair<int64_t, double>::first);
  // The one that was scraped with the sample, and the one before it.
  if (behind - times.begin() < 2) return false;
  return std::prev(behind)->second <= std::prev(behind, 2)->second;
}

void SideFacts::complete(DeviceKey& device) const {
  if (!device.device.empty() || device.uuid.empty()) return;
  if (const auto found = index_of_uuid_.find(device.uuid); found != index_of_uuid_.end()) {
    device.device = found->second;
  }
}

}  // namespace goban::series
