// Readings as 16-bit codes: value / quantum, or one of three marks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "site/series/sample.hpp"

namespace goban::site::series {

inline constexpr uint16_t kMissingCode = 0xffff;
inline constexpr uint16_t kStaleCode = 0xfffe;
inline constexpr uint16_t kNotAvailableCode = 0xfffd;
inline constexpr uint16_t kLargestCode = 65000;

[[nodiscard]] inline bool is_value(uint16_t code) { return code <= kLargestCode; }

[[nodiscard]] inline State state_of(uint16_t code) {
  if (is_value(code)) return State::Value;
  if (code == kStaleCode) return State::Stale;
  return code == kNotAvailableCode ? State::NotAvailable : State::Missing;
}

/// The more informative of two codes for one slot: a value, then N/A, then stale. The first wins
/// ties.
[[nodiscard]] inline uint16_t better_code(uint16_t first, uint16_t second) {
  if (is_value(first) || second == kMissingCode) return first;
  return is_value(second) ? second : std::min(first, second);  // N/A < stale < missing
}

/// Number of occurrences of each code; all per-job numbers are computed from it.
class CodeCounts {
 public:
  explicit CodeCounts(uint16_t code_max) : counts_(size_t{code_max} + 1) {}

  /// Clears all counts; the cost is the range of codes seen.
  void clear() {
    if (low_ <= high_) std::fill(counts_.begin() + low_, counts_.begin() + high_ + 1, 0U);
    low_ = kLargestCode;
    high_ = 0;
    not_available_ = stale_ = 0;
  }
  /// A value from a store is at most code_max; larger ones are counted as code_max (never written).
  void add_value(uint16_t code, uint32_t times) {
    code = std::min(code, static_cast<uint16_t>(counts_.size() - 1));
    counts_[code] += times;
    low_ = std::min(low_, code);
    high_ = std::max(high_, code);
  }
  /// Several values, all in [min, max].
  void add_values(std::span<const uint16_t> codes, uint16_t min, uint16_t max) {
    if (max >= counts_.size()) {
      for (const uint16_t code : codes) add_value(code, 1);
      return;
    }
    low_ = std::min(low_, min);
    high_ = std::max(high_, max);
    for (const uint16_t code : codes) ++counts_[code];
  }
  void add(uint16_t code) {
    if (is_value(code)) {
      add_value(code, 1);
    } else if (code == kNotAvailableCode) {
      ++not_available_;
    } else if (code == kStaleCode) {
      ++stale_;
    }
  }
  void add_marks(uint64_t not_available, uint64_t stale) {
    not_available_ += not_available;
    stale_ += stale;
  }

  [[nodiscard]] uint32_t count(uint16_t code) const { return counts_[code]; }
  /// All values are in [low(), high()]; low() > high() if there are none.
  [[nodiscard]] uint16_t low() const { return low_; }
  [[nodiscard]] uint16_t high() const { return high_; }
  [[nodiscard]] uint64_t not_available() const { return not_available_; }
  [[nodiscard]] uint64_t stale() const { return stale_; }
  [[nodiscard]] uint64_t values() const {
    uint64_t sum = 0;
    for (uint32_t code = low_; code <= high_; ++code) sum += counts_[code];
    return sum;
  }

 private:
  std::vector<uint32_t> counts_;
  uint16_t low_ = kLargestCode;
  uint16_t high_ = 0;
  uint64_t not_available_ = 0;
  uint64_t stale_ = 0;
};

}  // namespace goban::site::series
