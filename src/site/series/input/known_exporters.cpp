#include "site/series/input/known_exporters.hpp"

#include <span>

namespace goban::site::series {
namespace {

using enum Metric;

struct Known {
  std::string_view name;
  Metric metric = GpuUtilization;
  Unit unit = Unit::Percent;
};

constexpr Known kDcgm[] = {
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
};

constexpr Known kNvidiaGpuExporter[] = {
    {"nvidia_smi_utilization_gpu_ratio", GpuUtilization, Unit::Ratio},
    {"nvidia_smi_utilization_memory_ratio", GpuMemoryUtilization, Unit::Ratio},
    {"nvidia_smi_memory_used_bytes", GpuMemoryUsed, Unit::Byte},
    {"nvidia_smi_power_draw_watts", GpuPower, Unit::Watt},
    {"nvidia_smi_temperature_gpu", GpuTemperature, Unit::Celsius},
    {"nvidia_smi_clocks_current_sm_clock_hz", GpuSmClock, Unit::Hertz},
    {"nvidia_smi_clocks_current_memory_clock_hz", GpuMemoryClock, Unit::Hertz},
};
constexpr Known kNvidiaGpuExporterApps[] = {
    {"nvidia_smi_compute_apps", GpuProcesses, Unit::Count},
};

// minor_number is the number of /dev/nvidiaN; the ordinal of the newer exporter may differ from it.
constexpr Known kJobstats[] = {
    {"nvidia_gpu_duty_cycle", GpuUtilization, Unit::Percent},
    {"nvidia_gpu_memory_used_bytes", GpuMemoryUsed, Unit::Byte},
    {"nvidia_gpu_power_usage_milliwatts", GpuPower, Unit::Milliwatt},
    {"nvidia_gpu_temperature_celsius", GpuTemperature, Unit::Celsius},
};

constexpr Known kGoban[] = {
    {"goban_gpu_utilization_percent", GpuUtilization, Unit::Percent},
    {"goban_gpu_memory_utilization_percent", GpuMemoryUtilization, Unit::Percent},
    {"goban_gpu_memory_used_bytes", GpuMemoryUsed, Unit::Byte},
    {"goban_gpu_power_watts", GpuPower, Unit::Watt},
    {"goban_gpu_temperature_celsius", GpuTemperature, Unit::Celsius},
    {"goban_gpu_sm_clock_hertz", GpuSmClock, Unit::Hertz},
    {"goban_gpu_memory_clock_hertz", GpuMemoryClock, Unit::Hertz},
    {"goban_gpu_processes", GpuProcesses, Unit::Count},
};

// Written with nvidia-smi for node_exporter by scripts of various sites.
constexpr Known kTextfile[] = {
    {"nvidia_smi_utilization_gpu", GpuUtilization, Unit::Percent},
    {"nvidia_smi_utilization_memory", GpuMemoryUtilization, Unit::Percent},
    {"nvidia_smi_memory_used", GpuMemoryUsed, Unit::Mebibyte},
    {"nvidia_smi_power_draw", GpuPower, Unit::Watt},
};

struct KnownNode {
  std::string_view exporter;
  Known known;
  std::vector<std::string> device_labels;
};

const std::vector<KnownNode>& node_metrics() {
  static const std::vector<KnownNode> exporters{
      {"goban", {"goban_cpu_utilization_percent", CpuUtilization, Unit::Percent}, {}},
      {"goban", {"goban_host_memory_used_bytes", HostMemoryUsed, Unit::Byte}, {}},
      {"node_exporter", {"node_cpu_scaling_frequency_hertz", CpuClock, Unit::Hertz}, {"cpu"}},
      {"node_exporter",
       {"node_hwmon_temp_celsius", NodeTemperature, Unit::Celsius},
       {"chip", "sensor"}},
      {"node_exporter", {"node_hwmon_fan_rpm", FanSpeed, Unit::Rpm}, {"chip", "sensor"}},
      {"ipmi_exporter", {"ipmi_dcmi_power_consumption_watts", NodePower, Unit::Watt}, {}},
      {"ipmi_exporter", {"ipmi_temperature_celsius", NodeTemperature, Unit::Celsius}, {"name"}},
      {"ipmi_exporter", {"ipmi_fan_speed_rpm", FanSpeed, Unit::Rpm}, {"name"}},
  };
  return exporters;
}

class Builder {
 public:
  std::vector<Adapter> adapters;

  void add(std::string_view exporter, std::span<const Known> known,
           const std::vector<std::string>& device, std::string_view uuid,
           std::string_view freshness) {
    for (const Known& one : known) {
      adapters.push_back({.exporter = std::string(exporter),
                          .name = std::string(one.name),
                          .metric = one.metric,
                          .unit = one.unit,
                          .node_labels = node_labels(),
                          .device_labels = device,
                          .uuid_label = std::string(uuid),
                          .freshness = std::string(freshness)});
    }
  }
  void add_helper(std::string_view exporter, std::string_view name, Role role,
                  std::string_view uuid) {
    adapters.push_back({.exporter = std::string(exporter),
                        .name = std::string(name),
                        .role = role,
                        .node_labels = node_labels(),
                        .uuid_label = std::string(uuid)});
  }
};

}  // namespace

const std::vector<std::string>& node_labels() {
  static const std::vector<std::string> labels{"node",     "Hostname", "hostname",
                                               "nodename", "host",     "instance"};
  return labels;
}

std::vector<Adapter> known_exporters() {
  Builder builder;
  builder.add("dcgm", kDcgm, {"gpu", "GPU_I_ID"}, "UUID", "");
  constexpr std::string_view kSmiSuccess = "nvidia_smi_last_collect_success";
  constexpr std::string_view kAppsSuccess = "nvidia_smi_compute_apps_last_collect_success";
  builder.add("nvidia_gpu_exporter", kNvidiaGpuExporter, {}, "uuid", kSmiSuccess);
  builder.add("nvidia_gpu_exporter", kNvidiaGpuExporterApps, {}, "uuid", kAppsSuccess);
  builder.add_helper("nvidia_gpu_exporter", kSmiSuccess, Role::Success, "");
  builder.add_helper("nvidia_gpu_exporter", kAppsSuccess, Role::Success, "");
  builder.add_helper("nvidia_gpu_exporter", "nvidia_smi_index", Role::Index, "uuid");
  builder.add("jobstats", kJobstats, {"minor_number"}, "uuid", "");
  constexpr std::string_view kSampleTime = "goban_gpu_sample_time_seconds";
  builder.add("goban", kGoban, {"gpu", "mig"}, "uuid", kSampleTime);
  builder.add_helper("goban", kSampleTime, Role::Freshness, "");
  builder.add_helper("goban", "goban_gpu_not_available", Role::NotAvailable, "uuid");
  builder.adapters.back().device_labels = {"gpu"};
  builder.adapters.back().freshness = kSampleTime;
  constexpr std::string_view kMtime = "node_textfile_mtime_seconds";
  builder.add("textfile", kTextfile, {"gpu"}, "uuid", kMtime);
  builder.add_helper("textfile", kMtime, Role::Freshness, "");
  builder.adapters.back().only_label = "file";
  builder.adapters.back().only_value = "nvidia_smi.prom";
  for (const KnownNode& one : node_metrics()) {
    builder.add(one.exporter, std::span(&one.known, 1), one.device_labels, "", "");
  }
  return builder.adapters;
}

}  // namespace goban::site::series
