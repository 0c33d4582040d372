#include "site/series/job_values.hpp"

#include <algorithm>
#include <array>

namespace goban::site::series {

std::string_view name(Finding finding) {
  static constexpr std::array<std::string_view, 5> kNames{"known", "low coverage", "not available",
                                                          "no samples", "no series"};
  return kNames[static_cast<size_t>(finding)];
}

std::string_view name(Activity activity) {
  static constexpr std::array<std::string_view, 3> kNames{"busy", "idle", "unknown"};
  return kNames[static_cast<size_t>(activity)];
}

void ValueCounts::add(const std::vector<DeviceValues>& job) {
  ++jobs;
  devices += job.size();
  for (const DeviceValues& device : job) {
    ++by_finding[static_cast<size_t>(device.finding)];
    ++by_activity[static_cast<size_t>(device.activity)];
    if (device.values) samples += device.values->count;
  }
}

JobValues::JobValues(const StoreReader& store, ValueOptions options)
    : store_(&store), options_(options), counts_(store.metric().code_max) {}

std::vector<DeviceValues> JobValues::of(const SeriesJob& job) {
  std::vector<DeviceValues> result;
  result.reserve(job.devices.size());
  for (const DeviceKey& device : job.devices) {
    result.push_back(of(device, job.start_ms, job.end_ms));
  }
  return result;
}

DeviceValues JobValues::of(const DeviceKey& device, int64_t start_ms, int64_t end_ms) {
  DeviceValues result;
  const auto tracks = store_->find(device);
  int64_t step_ms = std::max<int64_t>(store_->step_ms(), 1);
  // The step of the blocks found is used, not that of the file's first writer.
  for (const Track* track : tracks) {
    const auto block = std::ranges::lower_bound(track->blocks, start_ms, {},
                                                [](const BlockRef& b) { return b.head.start_ms; });
    if (!track->blocks.empty()) {
      step_ms = (block == track->blocks.begin() ? block : std::prev(block))->head.step_ms;
    }
  }
  start_ms += options_.delay_ms + options_.skip_first * step_ms;
  end_ms -= options_.skip_last * step_ms;
  const int64_t span_ms = std::max<int64_t>(0, end_ms - start_ms);
  result.expected = std::max<uint64_t>(1, static_cast<uint64_t>(span_ms / step_ms));
  result.missing = result.expected;
  if (tracks.empty()) return result;

  counts_.clear();
  const VisitResult visit = store_->count(tracks, start_ms + (options_.include_start ? 0 : 1),
                                          end_ms - (options_.include_end ? 0 : 1), counts_);
  result.damaged_blocks = visit.damaged_blocks;
  result.values = reduce(counts_, store_->metric().quantum, options_.trim);
  result.not_available = counts_.not_available();
  result.stale = counts_.stale();
  const uint64_t values = result.values ? result.values->count : 0;
  const uint64_t seen = values + result.not_available + result.stale;
  result.missing = result.expected - std::min(result.expected, seen);
  result.coverage =
      std::min(1.0, static_cast<double>(values) / static_cast<double>(result.expected));
  if (seen == 0) {
    result.finding = Finding::NoSamples;
  } else if (values == 0 && result.not_available > 0) {
    result.finding = Finding::NotAvailable;
  } else if (values < options_.samples_min || result.coverage < options_.coverage_min) {
    result.finding = Finding::LowCoverage;
  } else {
    result.finding = Finding::Known;
  }
  if (result.values && result.values->trimmed_max >= options_.busy_at) {
    result.activity = Activity::Busy;
  } else if (result.finding == Finding::Known) {
    result.activity = Activity::Idle;
  }
  return result;
}

}  // namespace goban::site::series
