#include "site/series/job_series.hpp"

#include <algorithm>
#include <cmath>

namespace goban::site::series {
namespace {

/// A GPU has processes if any sample is above zero; trimming would remove short ones.
ValueOptions process_options(const ValueOptions& options) {
  ValueOptions result = options;
  result.trim.sigmas = 1e12;
  result.busy_at = 1;
  return result;
}

void add_activity(JobSeriesValues& values) {
  for (const DeviceValues& gpu : values.gpus) {
    values.busy += gpu.activity == Activity::Busy ? 1 : 0;
    values.idle += gpu.activity == Activity::Idle ? 1 : 0;
    values.unknown += gpu.activity == Activity::Unknown ? 1 : 0;
    values.coverage += gpu.coverage;
  }
  if (values.gpus.empty()) return;
  values.coverage /= static_cast<double>(values.gpus.size());
  values.coverage_min =
      std::ranges::min_element(values.gpus, {}, &DeviceValues::coverage)->coverage;
}

void add_busy_mean(JobSeriesValues& values) {
  if (values.busy == 0) return;
  double sum = 0;
  for (const DeviceValues& gpu : values.gpus) {
    if (gpu.activity == Activity::Busy) sum += gpu.values->mean;
  }
  const double mean = sum / values.busy;
  double squares = 0;
  for (const DeviceValues& gpu : values.gpus) {
    if (gpu.activity != Activity::Busy) continue;
    squares += (gpu.values->mean - mean) * (gpu.values->mean - mean);
  }
  values.busy_mean = mean;
  values.busy_sd = std::sqrt(squares / values.busy);
}

ProcessUse use_of(const DeviceValues& processes) {
  if (processes.activity == Activity::Busy) return ProcessUse::Seen;
  return processes.activity == Activity::Idle ? ProcessUse::None : ProcessUse::Unknown;
}

}  // namespace

JobSeries::JobSeries(const StoreReader& utilization, const StoreReader* processes,
                     const ValueOptions& options)
    : utilization_(utilization, options) {
  if (processes != nullptr) processes_.emplace(*processes, process_options(options));
}

JobSeriesValues JobSeries::of(const SeriesJob& job) {
  JobSeriesValues result;
  result.gpus = utilization_.of(job);
  result.processes.assign(job.devices.size(), ProcessUse::Unknown);
  if (processes_) std::ranges::transform(processes_->of(job), result.processes.begin(), use_of);
  result.no_process = static_cast<uint32_t>(std::ranges::count(result.processes, ProcessUse::None));
  add_activity(result);
  add_busy_mean(result);
  return result;
}

}  // namespace goban::site::series
