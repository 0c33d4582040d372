// For tests: samples as lines of text.
#pragma once

#include <fmt/format.h>
#include <string>
#include <vector>

#include "base/number.hpp"
#include "site/series/input/input.hpp"

namespace goban::site::series {

/// Stores samples as "node/device/uuid metric seconds value".
class TextSink final : public SampleSink {
 public:
  base::Status add(const DeviceKey& device, Metric metric, int64_t time_ms,
                   Reading reading) override {
    const std::string value = reading.state == State::Value ? base::number_text(reading.value)
                              : reading.state == State::NotAvailable ? "na"
                                                                     : "stale";
    lines.push_back(fmt::format("{}/{}/{} {} {} {}", device.node, device.device, device.uuid,
                                info(metric).name,
                                base::number_text(static_cast<double>(time_ms) / 1000), value));
    return {};
  }
  std::vector<std::string> lines;
};

}  // namespace goban::site::series
