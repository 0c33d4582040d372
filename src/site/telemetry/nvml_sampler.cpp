#include <chrono>
#include <fmt/format.h>
#include <thread>

#include "base/clock.hpp"
#include "base/time.hpp"
#include "site/telemetry/gpu_sampler.hpp"

namespace goban::site::telemetry {
namespace {

using base::gpus::GpuReading;
using base::gpus::NvmlLibrary;
using base::gpus::PhysicalGpu;
using series::Metric;
using series::State;

void add(SampledGpu& gpu, Metric metric, double value) {
  const bool known = value >= 0;
  gpu.readings.emplace_back(metric,
                            series::Reading{.state = known ? State::Value : State::NotAvailable,
                                            .value = known ? value : 0});
}

SampledGpu sampled(const NvmlLibrary& library, const PhysicalGpu& gpu, size_t index) {
  constexpr double kMebibyte = 1024.0 * 1024;
  const GpuReading reading = library.read(gpu.uuid);
  SampledGpu out;
  out.index = std::to_string(index);
  out.uuid = gpu.uuid;
  out.name = gpu.name;
  out.mig = gpu.mig;
  add(out, Metric::GpuUtilization, gpu.mig ? -1 : reading.util_pct);
  add(out, Metric::GpuMemoryUtilization, gpu.mig ? -1 : reading.memory_busy_pct);
  add(out, Metric::GpuMemoryUsed,
      reading.mem_used_bytes < 0 ? -1 : static_cast<double>(reading.mem_used_bytes) / kMebibyte);
  add(out, Metric::GpuPower, reading.power_w);
  add(out, Metric::GpuTemperature, reading.temperature_c);
  add(out, Metric::GpuSmClock, reading.sm_clock_mhz);
  add(out, Metric::GpuMemoryClock, reading.mem_clock_mhz);
  if (!gpu.mig) out.processes = library.processes_on(gpu.uuid).size();
  return out;
}

Sampling look(const NvmlLibrary& library) {
  Sampling result;
  const base::TimeNs begin_ns = base::steady_ns();
  const auto gpus = library.physical_gpus();
  if (gpus) {
    for (const PhysicalGpu& gpu : *gpus) {
      result.gpus.push_back(sampled(library, gpu, result.gpus.size()));
    }
    if (gpus->empty()) result.problem = "NVIDIA's driver reports no GPU";
  } else {
    result.problem = gpus.error().text();
  }
  result.time_ms = base::wall_ns() / base::kMillisecond;
  result.duration_s = base::to_seconds(base::steady_ns() - begin_ns);
  return result;
}

}  // namespace

NvmlSampler::NvmlSampler(std::shared_ptr<const NvmlLibrary> library)
    : library_(std::move(library)) {}

Sampling NvmlSampler::sample(double timeout_s) {
  using std::chrono::duration;
  if (!pending_.valid()) {
    // Not std::async: the destructor of its future would wait for a hung driver at exit.
    std::promise<Sampling> promise;
    pending_ = promise.get_future();
    std::thread([library = library_, promise = std::move(promise)]() mutable {
      promise.set_value(look(*library));
    }).detach();
  }
  if (pending_.wait_for(duration<double>(timeout_s)) == std::future_status::ready) {
    return pending_.get();
  }
  Sampling result;
  result.problem = fmt::format("NVIDIA's driver did not answer within {:g} s", timeout_s);
  result.duration_s = timeout_s;
  return result;
}

}  // namespace goban::site::telemetry
