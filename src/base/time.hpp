// Engine time: int64 nanoseconds since the start of the history. Work stays a double of seconds.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace goban::base {

using TimeNs = int64_t;

inline constexpr TimeNs kMillisecond = 1'000'000;
inline constexpr TimeNs kSecond = 1'000'000'000;
inline constexpr int64_t kMinute_s = 60;
inline constexpr int64_t kHour_s = 60 * kMinute_s;
inline constexpr int64_t kDay_s = 24 * kHour_s;
inline constexpr TimeNs kMinute = kMinute_s * kSecond;
inline constexpr TimeNs kHour = kHour_s * kSecond;
inline constexpr TimeNs kDay = kDay_s * kSecond;
inline constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();
/// Longest duration that an input may contain, about 146 years; the sum of two still fits TimeNs.
inline constexpr double kMaxSeconds = 4.6e9;

/// Nearest nanosecond; the caller has checked |seconds| <= kMaxSeconds.
[[nodiscard]] inline TimeNs from_seconds(double seconds) {
  return static_cast<TimeNs>(std::llround(seconds * 1e9));
}

/// `seconds` rounded up to a nanosecond; kNever beyond kMaxSeconds.
[[nodiscard]] inline TimeNs from_seconds_up(double seconds) {
  return seconds > kMaxSeconds ? kNever : static_cast<TimeNs>(std::ceil(seconds * 1e9));
}

[[nodiscard]] inline constexpr double to_seconds(TimeNs ns) {
  return static_cast<double>(ns) / 1e9;
}

/// a + b for b >= 0; kNever instead of an overflow.
[[nodiscard]] inline constexpr TimeNs add_saturating(TimeNs a, TimeNs b) {
  return b >= kNever - (a > 0 ? a : 0) ? kNever : a + b;
}

}  // namespace goban::base
