// Contents of a series store, and whether it is intact (`goban series info`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "site/series/store_reader.hpp"

namespace goban::site::series {

/// What a store contains of one metric.
struct Holding {
  const MetricInfo* metric = nullptr;
  size_t devices = 0;
  size_t nodes = 0;
  size_t blocks = 0;
  uint64_t values = 0;
  uint64_t not_available = 0;
  uint64_t stale = 0;
  uint64_t missing = 0;  ///< slots within blocks
  uint64_t damaged_blocks = 0;
  size_t bytes = 0;
  int64_t first_ms = INT64_MAX;
  int64_t last_ms = INT64_MIN;
  uint32_t step_ms = 0;
  std::vector<StoreDamage> damage;

  [[nodiscard]] uint64_t samples() const { return values + not_available + stale; }
  [[nodiscard]] double bytes_per_sample() const {
    return samples() == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(samples());
  }
};

/// For every metric in the store, in the order of metrics(). Reads all blocks. Errors: those
/// of StoreReader::open().
[[nodiscard]] base::Result<std::vector<Holding>> store_holdings(const std::string& store);

}  // namespace goban::site::series
