// What every reader of series has in common: whom it gives samples to, and what it could not use.
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

/// What inputs yielded, and what they did not, with the reason.
struct InputCounts {
  uint64_t lines = 0;          ///< or rows, or points of a response
  uint64_t samples = 0;        ///< given on
  uint64_t not_available = 0;  ///< of the samples: the device has no such value
  uint64_t stale = 0;          ///< of the samples: an older value was served again
  uint64_t no_number = 0;      ///< NaN, or an error text of nvidia-smi: as if nobody had sampled
  uint64_t other_metrics = 0;  ///< lines of metrics that no adapter knows
  uint64_t outside = 0;        ///< of another time than asked for
  std::map<std::string, uint64_t> rejected;  ///< by reason

  [[nodiscard]] uint64_t rejected_lines() const {
    uint64_t sum = 0;
    for (const auto& [reason, count] : rejected) sum += count;
    return sum;
  }
};

/// A line that could not be used.
struct Reject {
  std::string_view file;
  int64_t line = 0;
  std::string_view reason;
  std::string_view text;
};

/// Receives the samples of one import and keeps its counts.
class Intake {
 public:
  explicit Intake(SampleSink& sink) : sink_(&sink) {}

  InputCounts counts;
  std::function<void(const Reject&)> on_reject;       ///< called for every rejected line
  const std::atomic<bool>* interrupted = nullptr;     ///< set when the user wants to stop
  std::function<void(int64_t, int64_t)> on_progress;  ///< bytes done, bytes in all (0: unknown)
  /// Only samples of [from_ms, to_ms) are given on.
  int64_t from_ms = INT64_MIN;
  int64_t to_ms = INT64_MAX;

  [[nodiscard]] bool stopped() const { return interrupted != nullptr && *interrupted; }
  void reject(const Reject& reject) {
    ++counts.rejected[std::string(reject.reason)];
    if (on_reject) on_reject(reject);
  }
  /// Counts a sample and gives it on. Errors: those of the sink.
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
