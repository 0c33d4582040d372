#include "serve/daemon/stored_readings.hpp"

#include <filesystem>
#include <fmt/format.h>

#include "site/series/codes.hpp"
#include "site/series/store_reader.hpp"

namespace goban::serve::daemon {

using site::series::Metric;

namespace {

constexpr double kBytesPerMiB = 1 << 20;  // unit of the metric of memory

base::Status add_stored(const std::string& store, Metric metric,
                        const std::vector<site::series::DeviceKey>& keys, const GpuWindow& window,
                        CurveSums& sums) {
  const int64_t from_ms = window.from_ns / base::kMillisecond;
  const int64_t to_ms = window.to_ns / base::kMillisecond;
  const auto reader = site::series::StoreReader::open(store, metric, from_ms, to_ms);
  if (!reader) return base::failure(reader.error());
  std::vector<site::series::StoreReader::Code> codes;
  for (size_t i = 0; i < window.gpus.size(); ++i) {
    if (window.gpus[i].index() >= keys.size()) continue;
    codes.clear();
    (void)reader->read(reader->find(keys[window.gpus[i].index()]), from_ms, to_ms, codes);
    for (const auto& each : codes) {
      if (!site::series::is_value(each.code)) continue;
      GpuReading reading;
      put_value(reading, metric, each.code * reader->metric().quantum);
      sums.add(i, each.time_ms, reading);
    }
  }
  return {};
}

}  // namespace

std::vector<site::series::DeviceKey> device_keys(const live::loop::SchedulerClient& scheduler) {
  std::vector<site::series::DeviceKey> out;
  scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    const core::model::Cluster& cluster = snapshot.site.cluster;
    for (uint32_t gpu = 0; gpu < cluster.num_gpus(); ++gpu) {
      const core::model::Node& node = cluster.node(cluster.node_of(core::model::GpuId(gpu)));
      out.push_back(
          {.node = node.name, .device = fmt::format("{}", gpu - node.first_gpu), .uuid = {}});
    }
  });
  return out;
}

void put_value(GpuReading& reading, Metric metric, double value) {
  if (metric == Metric::GpuUtilization) reading.util_pct = value;
  if (metric == Metric::GpuPower) reading.power_w = value;
  if (metric == Metric::GpuTemperature) reading.temperature_c = value;
  if (metric == Metric::GpuMemoryUtilization) reading.memory_busy_pct = value;
  if (metric == Metric::GpuMemoryUsed) {
    reading.mem_used_bytes = static_cast<int64_t>(value * kBytesPerMiB);
  }
}

base::Status add_stored_readings(const std::string& store,
                                 const std::vector<site::series::DeviceKey>& keys,
                                 const GpuWindow& window, CurveSums& sums) {
  std::error_code none;  // the first write creates the store
  if (!std::filesystem::is_directory(store, none)) return {};
  for (const Metric metric : {Metric::GpuUtilization, Metric::GpuMemoryUsed, Metric::GpuPower}) {
    if (window.only_power && metric != Metric::GpuPower) continue;
    if (auto read = add_stored(store, metric, keys, window, sums); !read) return read;
  }
  return {};
}

}  // namespace goban::serve::daemon
