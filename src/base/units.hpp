// Quantities with units, as users write them: sizes, durations, bandwidths.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace goban::base {

inline constexpr int64_t kGib = int64_t{1} << 30;  ///< bytes of 1 GiB
inline constexpr double kPercentMax = 100;

/// Bytes from "16 GiB", "1.6TB", "512 MB", "4096 B" or "4096"; K, M, G, T with B are powers of
/// 1000, with iB powers of 1024. Errors: BadData without a position, if the text is not a size, is
/// negative, or is not below 2^62.
[[nodiscard]] Result<int64_t> parse_bytes(std::string_view text);

/// A duration from "72h", "1d 12h", "1.5 us", "01:30:00" (hours:minutes:seconds) or "90"
/// (seconds); units ns, us, ms, s, m or min, h, d. Errors: as parse_bytes, at most kMaxSeconds.
[[nodiscard]] Result<TimeNs> parse_duration(std::string_view text);

/// Bytes per second from "12.5 GB/s", "1 GiB/s", "200 Gb/s" (b = bits) or "1e9". Errors: as
/// parse_bytes.
[[nodiscard]] Result<double> parse_bandwidth(std::string_view text);

/// The shortest form that parses to exactly the same value.
[[nodiscard]] std::string bytes_text(int64_t bytes);
[[nodiscard]] std::string duration_text(TimeNs span_ns);
/// For display: 93784 -> "26.1 h"; the unit is chosen so that two to four digits remain.
[[nodiscard]] std::string human_seconds(double seconds);

}  // namespace goban::base
