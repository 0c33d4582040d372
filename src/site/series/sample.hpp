// One measurement of one device, on its way from an input to a store.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "site/series/metric.hpp"

namespace goban::site::series {

/// Which device of which node.
struct DeviceKey {
  std::string node;
  /// Index of the GPU as its tools count, "0"; "0.1" for a MIG instance of it; another name for a
  /// part of a node ("cpu3"), empty for the whole node.
  std::string device;
  std::string uuid;  ///< empty if the input has none

  friend auto operator<=>(const DeviceKey&, const DeviceKey&) = default;
};

/// What a sampling said. Only Value is a number; none of the others is zero.
enum class State : uint8_t {
  Value,
  NotAvailable,  ///< the tool answered that the device has no such value (as under MIG)
  Stale,         ///< an older value was served again
  Missing,       ///< nobody sampled
};

struct Reading {
  State state = State::Missing;
  double value = 0;  ///< in the unit of the metric; 0 unless state is Value
};

/// Takes what an input yields, in the order of the input.
class SampleSink {
 public:
  SampleSink() = default;
  SampleSink(const SampleSink&) = delete;
  SampleSink& operator=(const SampleSink&) = delete;
  virtual ~SampleSink() = default;
  /// Time since 1970 in milliseconds. Errors: what the sink does with it failed (disk full).
  [[nodiscard]] virtual base::Status add(const DeviceKey& device, Metric metric, int64_t time_ms,
                                         Reading reading) = 0;
};

}  // namespace goban::site::series
