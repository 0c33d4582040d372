#include "serve/agent/sample_means.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace goban::serve::agent {

using site::series::Metric;
using site::series::Reading;
using site::series::State;
using site::telemetry::AgentSample;
using site::telemetry::SampledGpu;
using site::telemetry::Sampling;

namespace {

constexpr double kMebibyte = 1 << 20;

bool is_peak(Metric metric) {
  return metric == Metric::GpuMemoryUsed || metric == Metric::GpuProcesses ||
         metric == Metric::HostMemoryUsed;
}

}  // namespace

void SampleMeans::add(const Sampling& sampling) {
  const auto put = [&](const std::string& device, Metric metric, const Reading& reading) {
    Sum& sum = devices_[device][metric];
    if (reading.state == State::NotAvailable) sum.not_available = true;
    if (reading.state != State::Value || !std::isfinite(reading.value)) return;
    sum.sum += reading.value;
    sum.most = sum.count == 0 ? reading.value : std::max(sum.most, reading.value);
    ++sum.count;
  };
  const auto value = [](double number) { return Reading{.state = State::Value, .value = number}; };
  for (const SampledGpu& gpu : sampling.gpus) {
    for (const auto& [metric, reading] : gpu.readings) put(gpu.index, metric, reading);
    if (gpu.processes) {
      put(gpu.index, Metric::GpuProcesses, value(static_cast<double>(*gpu.processes)));
    }
  }
  if (sampling.cpu_util_pct) put("", Metric::CpuUtilization, value(*sampling.cpu_util_pct));
  if (sampling.host_mem_used_bytes) {
    put("", Metric::HostMemoryUsed,
        value(static_cast<double>(*sampling.host_mem_used_bytes) / kMebibyte));
  }
}

std::vector<AgentSample> SampleMeans::take() {
  std::vector<AgentSample> out;
  for (const auto& [device, metrics] : devices_) {
    AgentSample& sample = out.emplace_back();
    sample.gpu = device;
    for (const auto& [metric, sum] : metrics) {
      if (sum.count > 0) {
        const double mean = sum.sum / static_cast<double>(sum.count);
        sample.readings.push_back(
            {metric, {.state = State::Value, .value = is_peak(metric) ? sum.most : mean}});
      } else if (sum.not_available) {
        sample.readings.push_back({metric, {.state = State::NotAvailable, .value = 0}});
      }
    }
    if (sample.readings.empty()) out.pop_back();
  }
  devices_.clear();
  return out;
}

Sampling virtual_sampling(const std::string& node, int32_t num_gpus, const ScannedJobs& jobs,
                          double over_s) {
  struct Use {
    double util_pct = 0, mem_mib = 0;
    uint64_t processes = 0;
  };
  std::vector<Use> uses(static_cast<size_t>(num_gpus));
  for (const auto& [id, job] : jobs) {
    if (job.use.mem_bytes <= 0 || job.job.gpus.empty()) continue;
    const auto held = static_cast<double>(job.job.gpus.size());
    for (const int32_t gpu : job.job.gpus) {
      if (gpu >= num_gpus) continue;
      Use& use = uses[static_cast<size_t>(gpu)];
      if (over_s > 0) use.util_pct += 100 * job.use.cpu_s / over_s / held;
      use.mem_mib += static_cast<double>(job.use.mem_bytes) / kMebibyte / held;
      ++use.processes;
    }
  }
  Sampling out;
  for (int32_t i = 0; i < num_gpus; ++i) {
    const Use& use = uses[static_cast<size_t>(i)];
    SampledGpu& gpu = out.gpus.emplace_back();
    gpu.index = fmt::format("{}", i);
    gpu.uuid = fmt::format("GPU-virtual-{}-{}", node, i);
    gpu.name = "virtual";
    gpu.processes = use.processes;
    gpu.readings = {
        {Metric::GpuUtilization, {.state = State::Value, .value = std::min(100.0, use.util_pct)}},
        {Metric::GpuMemoryUsed, {.state = State::Value, .value = use.mem_mib}}};
  }
  return out;
}

}  // namespace goban::serve::agent
