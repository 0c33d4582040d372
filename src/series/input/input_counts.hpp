// What an input yielded, and what it did not, with the reason.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace goban::series {

struct InputCounts {
  uint64_t lines = 0;    ///< or rows, or points of a response
  uint64_t samples = 0;  ///< given on
  uint64_t not_available = 0;  ///< of the samples
  uint64_t stale = 0;          ///< of the samples
  uint64_t other_metrics = 0;  ///< lines of metrics that no adapter knows
  uint64_t outside = 0;        ///< of another time than asked for
  uint64_t queries = 0;
  /// Lines that could not be used, by reason, and the first few places.
  std::map<std::string, uint64_t> rejected;
  std::vector<std::string> examples;

  void reject(const std::string& reason, const std::string& place) {
    ++rejected[reason];
    if (examples.size() < kExamplesMax) examples.push_back(place + ": " + reason);
  }
  [[nodiscard]] uint64_t rejected_lines() const {
    uint64_t sum = 0;
    for (const auto& [reason, count] : rejected) sum += count;
    return sum;
  }

 private:
  static constexpr size_t kExamplesMax = 20;
};

}  // namespace goban::series
