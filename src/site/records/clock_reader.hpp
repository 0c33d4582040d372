// Moments of accounting records: fast reading of `YYYY-MM-DDTHH:MM:SS` and seconds since 1970,
// local times in a zone.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "base/time_zone.hpp"

namespace goban::site::records {

/// What a field that holds a moment says.
enum class MomentKind : uint8_t { Given, Absent, Bad, Skipped };

struct Moment {
  MomentKind kind = MomentKind::Absent;
  base::TimeNs ns = -1;
  /// The same wall clock came again later: the other moment; -1 = the clock came once.
  base::TimeNs second_ns = -1;
};

/// Reads moments; remembers the last days, as records come in order.
class ClockReader {
 public:
  explicit ClockReader(base::TimeZone zone = {}) : zone_(std::move(zone)) {}

  /// "", `Unknown`, `None`, `N/A` and 0 are absent. Digits alone are seconds since 1970 (13 of
  /// them: milliseconds); a fraction or a zone in the text is taken. Skipped: the zone has no such
  /// time.
  [[nodiscard]] Moment read(std::string_view text);

  /// Local times that came twice, as read so far.
  [[nodiscard]] int64_t ambiguous() const { return ambiguous_; }
  /// Some time was without a zone and was read in zone().
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
