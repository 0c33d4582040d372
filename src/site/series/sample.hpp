// One measurement of one device, from an input to a store.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "site/series/metric.hpp"

namespace goban::site::series {

/// Identifies a device of a node.
struct DeviceKey {
  std::string node;
  /// Index of the GPU in nvidia-smi's numbering, "0"; "0.1" for a MIG instance; another name for a
  /// part of a node ("cpu3"); empty for the entire node.
  std::string device;
  std::string uuid;  ///< empty if the input has none

  friend auto operator<=>(const DeviceKey&, const DeviceKey&) = default;
};

/// Result of a sampling. Only Value is a number; none of the others is zero.
enum class State : uint8_t {
  Value,
  NotAvailable,  ///< the tool reported that the device has no such value (as under MIG)
  Stale,         ///< an older value was served again
  Missing,       ///< not sampled
};

struct Reading {
  State state = State::Missing;
  double value = 0;  ///< in the unit of the metric; 0 unless state is Value
};

/// Takes the samples of an input, in its order.
class SampleSink {
 public:
  SampleSink() = default;
  SampleSink(const SampleSink&) = delete;
  SampleSink& operator=(const SampleSink&) = delete;
  virtual ~SampleSink() = default;
  /// Time in milliseconds since 1970. Errors: those of the sink (such as a full disk).
  [[nodiscard]] virtual base::Status add(const DeviceKey& device, Metric metric, int64_t time_ms,
                                         Reading reading) = 0;
};

}  // namespace goban::site::series
