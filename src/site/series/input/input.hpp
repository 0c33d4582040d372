// Shared by all readers of series: the sink for samples, and counts of what was not used.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "site/series/sample.hpp"

namespace goban::site::series {

/// What an input contained, and what was not used, by reason.
struct InputCounts {
  uint64_t lines = 0;          ///< or rows, or points of a response
  uint64_t samples = 0;        ///< passed on
  uint64_t not_available = 0;  ///< of the samples: the device has no such value
  uint64_t stale = 0;          ///< of the samples: an older value was served again
  uint64_t no_number = 0;      ///< NaN, or an error text of nvidia-smi: treated as no sample
  uint64_t other_metrics = 0;  ///< lines of metrics without an adapter
  uint64_t outside = 0;        ///< outside the requested period
  std::map<std::string, uint64_t> rejected;  ///< by reason

  [[nodiscard]] uint64_t rejected_lines() const {
    uint64_t sum = 0;
    for (const auto& [reason, count] : rejected) sum += count;
    return sum;
  }
};

/// A rejected line.
struct Reject {
  std::string_view file;
  int64_t line = 0;
  std::string_view reason;
  std::string_view text;
};

/// Receives the samples of one import and counts them.
class Intake {
 public:
  explicit Intake(SampleSink& sink) : sink_(&sink) {}

  InputCounts counts;
  std::function<void(const Reject&)> on_reject;       ///< called for every rejected line
  const std::atomic<bool>* interrupted = nullptr;     ///< set to cancel the import
  std::function<void(int64_t, int64_t)> on_progress;  ///< bytes done, total bytes (0: unknown)
  /// Only samples of [from_ms, to_ms) are passed on.
  int64_t from_ms = INT64_MIN;
  int64_t to_ms = INT64_MAX;

  [[nodiscard]] bool stopped() const { return interrupted != nullptr && *interrupted; }
  void reject(const Reject& reject) {
    ++counts.rejected[std::string(reject.reason)];
    if (on_reject) on_reject(reject);
  }
  /// Counts a sample and passes it on. Errors: those of the sink.
  [[nodiscard]] base::Status add(const DeviceKey& device, Metric metric, int64_t time_ms,
                                 const Reading& reading) {
    if (time_ms < from_ms || time_ms >= to_ms) {
      ++counts.outside;
      return {};
    }
    if (reading.state == State::Missing) {
      ++counts.no_number;
      return {};
    }
    ++counts.samples;
    counts.not_available += reading.state == State::NotAvailable ? 1 : 0;
    counts.stale += reading.state == State::Stale ? 1 : 0;
    return sink_->add(device, metric, time_ms, reading);
  }

 private:
  SampleSink* sink_;
};

}  // namespace goban::site::series
