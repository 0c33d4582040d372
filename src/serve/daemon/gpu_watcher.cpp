#include "serve/daemon/gpu_watcher.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/clock.hpp"
#include "base/time.hpp"
#include "serve/daemon/curve_sums.hpp"
#include "serve/daemon/stored_readings.hpp"
#include "site/series/store_writer.hpp"

namespace goban::serve::daemon {

using base::TimeNs;
using site::series::Metric;

namespace {

/// Samples kept while the store cannot be written; older ones are discarded.
constexpr size_t kSamplesMax = 20'000;
/// How long samples are kept without a store.
constexpr TimeNs kKeptWithoutStore = 3600 * base::kSecond;
/// Older readings are not returned: a hung driver must not look like a steady GPU.
constexpr TimeNs kStale = 30 * base::kSecond;

std::vector<live::HoldingRun> holding_runs(const live::loop::SchedulerClient& scheduler) {
  std::vector<live::HoldingRun> out;
  scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    for (const auto& [id, run] : snapshot.book.runs) {
      if (run.stage == live::controller::LiveRun::Stage::Pending) continue;
      out.push_back({.run = id, .gpus = run.gpus});
    }
  });
  return out;
}

constexpr double kMebibyte = 1 << 20;  // unit of the metric of memory

struct Kept {
  Metric metric = Metric::GpuUtilization;
  double value = -1;
};

std::array<Kept, 4> kept_of(const GpuReading& reading) {
  return {{{Metric::GpuUtilization, reading.util_pct},
           {Metric::GpuMemoryUsed, static_cast<double>(reading.mem_used_bytes) / kMebibyte},
           {Metric::GpuPower, reading.power_w},
           {Metric::GpuTemperature, reading.temperature_c}}};
}

}  // namespace

GpuWatcher::GpuWatcher(live::EngineView& view, const live::loop::SchedulerClient& scheduler,
                       GpuWatcherOptions options)
    : view_(view), scheduler_(scheduler), options_(std::move(options)) {
  next_keep_ns_ = now_ns() + options_.keep_every_ns;
  next_write_ns_ = now_ns() + options_.write_every_ns;
  thread_ = std::thread([this] { work(); });
}

GpuWatcher::~GpuWatcher() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
  keep(now_ns());
  write();
}

TimeNs GpuWatcher::now_ns() const {
  if (options_.wall_clock) return options_.wall_clock();
  return base::wall_ns();
}

api::GpuReadings GpuWatcher::latest() const {
  const std::scoped_lock lock(mutex_);
  if (now_ns() - latest_.at_ns > kStale) return {.at_ns = latest_.at_ns};
  return latest_;
}

void GpuWatcher::work() {
  while (true) {
    look();
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, std::chrono::nanoseconds(options_.every_ns),
                       [this] { return ending_; })) {
      return;
    }
  }
}

void GpuWatcher::look() {
  const TimeNs now = now_ns();
  api::GpuReadings found{.at_ns = now, .gpus = view_.read_gpus(holding_runs(scheduler_), now)};
  sums_.resize(found.gpus.size());
  for (size_t i = 0; i < found.gpus.size(); ++i) {
    const GpuReading& reading = found.gpus[i];
    Sum& sum = sums_[i];
    if (reading.util_pct >= 0) {
      sum.util_pct += reading.util_pct;
      ++sum.num_util;
    }
    if (reading.power_w >= 0) {
      sum.power_w += reading.power_w;
      ++sum.num_power;
    }
    sum.last = reading;
  }
  {
    const std::scoped_lock lock(mutex_);
    latest_ = std::move(found);
  }
  if (now >= next_keep_ns_) keep(now);
  if (now >= next_write_ns_) write();
}

void GpuWatcher::keep(TimeNs now) {
  next_keep_ns_ = now + options_.keep_every_ns;
  if (sums_.empty()) return;
  Sample sample{.time_ms = now / base::kMillisecond, .gpus = {}};
  for (const Sum& sum : sums_) {
    GpuReading& each = sample.gpus.emplace_back(sum.last);
    each.util_pct = sum.num_util > 0 ? sum.util_pct / static_cast<double>(sum.num_util) : -1;
    each.power_w = sum.num_power > 0 ? sum.power_w / static_cast<double>(sum.num_power) : -1;
  }
  sums_.clear();
  const std::scoped_lock lock(mutex_);
  samples_.push_back(std::move(sample));
  const auto kept = static_cast<size_t>(kKeptWithoutStore / options_.keep_every_ns);
  const size_t most = options_.series.empty() ? std::min(kept, kSamplesMax) : kSamplesMax;
  if (samples_.size() > most) samples_.erase(samples_.begin());
}

void GpuWatcher::write() {
  next_write_ns_ = now_ns() + options_.write_every_ns;
  if (options_.series.empty() || samples_.empty() || (options_.may_write && !options_.may_write()))
    return;
  const base::Status status = write_samples();
  if (status) {
    const std::scoped_lock lock(mutex_);
    samples_.clear();
    said_.clear();
    return;
  }
  std::string problem = status.error().text();
  if (options_.say && problem != said_) options_.say("cannot write GPU readings: " + problem);
  said_ = std::move(problem);
}

base::Status GpuWatcher::write_samples() {
  const std::vector<site::series::DeviceKey> keys = device_keys(scheduler_);
  const auto step_ms = static_cast<uint32_t>(options_.keep_every_ns / base::kMillisecond);
  auto writer = site::series::StoreWriter::open(options_.series, {.step_ms = step_ms});
  if (!writer) return base::failure(writer.error());
  for (const Sample& sample : samples_) {
    for (size_t i = 0; i < std::min(keys.size(), sample.gpus.size()); ++i) {
      for (const Kept& kept : kept_of(sample.gpus[i])) {
        if (kept.value < 0) continue;  // unknown: no sample
        const site::series::Reading reading{.state = site::series::State::Value,
                                            .value = kept.value};
        auto status = (*writer)->add(keys[i], kept.metric, sample.time_ms, reading);
        if (!status) return status;
      }
    }
  }
  return (*writer)->finish();
}

base::Result<api::GpuCurves> GpuWatcher::curves(const api::GpuWindow& window) const {
  CurveSums sums(window, options_.keep_every_ns);
  {
    // Before the store, so that samples that are written meanwhile are not missed.
    const std::scoped_lock lock(mutex_);
    for (const Sample& sample : samples_) {
      for (size_t i = 0; i < window.gpus.size(); ++i) {
        const size_t gpu = window.gpus[i].index();
        if (gpu < sample.gpus.size()) sums.add(i, sample.time_ms, sample.gpus[gpu]);
      }
    }
  }
  const base::Status read =
      add_stored_readings(options_.series, device_keys(scheduler_), window, sums);
  if (!read) return base::failure(read.error());
  return sums.take();
}

}  // namespace goban::serve::daemon
