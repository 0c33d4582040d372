// Timestamps of accounting records: fast parsing of `YYYY-MM-DDTHH:MM:SS` and of seconds since
// 1970, and conversion of local times.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "base/time_zone.hpp"

namespace goban::site::records {

/// Content of a timestamp field.
enum class MomentKind : uint8_t { Given, Absent, Bad, Skipped };

struct Moment {
  MomentKind kind = MomentKind::Absent;
  base::TimeNs ns = -1;
  /// If the clock was set back and showed this local time twice: the later of the two; otherwise
  /// -1.
  base::TimeNs second_ns = -1;
};

/// Reads timestamps. Caches recent days, as records are in order of time.
class ClockReader {
 public:
  explicit ClockReader(base::TimeZone zone = {}) : zone_(std::move(zone)) {}

  /// "", `Unknown`, `None`, `N/A` and 0 are Absent. A text of digits only is seconds since 1970 (13
  /// digits: milliseconds). A fraction or a time zone in the text is honoured. Skipped: this local
  /// time does not exist in the zone.
  [[nodiscard]] Moment read(std::string_view text);

  /// Number of local times read so far that occurred twice.
  [[nodiscard]] int64_t ambiguous() const { return ambiguous_; }
  /// True if a time without a time zone was read, and interpreted in zone().
  [[nodiscard]] bool used_zone() const { return used_zone_; }
  [[nodiscard]] const base::TimeZone& zone() const { return zone_; }

 private:
  [[nodiscard]] Moment local(int64_t local_s, base::TimeNs fraction_ns);
  [[nodiscard]] Moment read_slowly(std::string_view text);
  [[nodiscard]] bool day_start(std::string_view day, int64_t& unix_s);

  struct Day {
    std::array<char, 10> text{};
    int64_t unix_s = 0;
  };
  base::TimeZone zone_;
  std::array<Day, 64> days_;  ///< by hash of the text
  int64_t ambiguous_ = 0;
  bool used_zone_ = false;
};

}  // namespace goban::site::records
