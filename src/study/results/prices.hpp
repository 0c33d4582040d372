// What energy and GPU-hours cost a site: a TOML file, and market prices by hour as CSV. All keys; *
// marks those that are required:
//
//   currency = "EUR"              # * for display only
//   electricity_per_kwh = 0.21    # 1 value, 24 by hour of the day, or 168 by hour of the week from
//                                 # Monday; negative prices are accepted
//   carbon_g_per_kwh = 380        # likewise, not negative
//   hours = "market.csv"          # instead of these two: dated hours, see parse_price_hours()
//   missing_hours = "refuse"      # of that file; or "mean": the mean of the same hour of the day
//   pue = 1.3                     # energy of the site / energy of the nodes; default 1
//   gpu_hour_value = 1.9          # what a GPU-hour that becomes free is worth
//   gpu_price = 30000             # of a GPU with its part of the node
//   gpu_life = "1826d"            # both give a GPU-hour its price if it has no value
//   utc_offset_h = 1              # of the clock of 24 or 168 values; default 0
//   history_zero = "2024-03-04 00:00:00"  # date of time 0 of a history without dates, in UTC
//
// Unknown keys are rejected, so that a typing error never becomes a default.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace goban::study::results {

inline constexpr int64_t kHoursOfDay = 24;
inline constexpr int64_t kHoursOfWeek = 168;

/// A value by hour. Hours count from 1970-01-01 00:00 UTC.
struct HourlyRate {
  /// 1, 24 or 168 values on the clock of the site; empty: dated, or unknown.
  std::vector<double> cycle;
  std::vector<double> dated;                 ///< from first_hour on, without gaps
  std::array<double, kHoursOfDay> of_day{};  ///< means of `dated` by hour of the day, UTC
  int64_t first_hour = 0;

  [[nodiscard]] bool known() const { return !cycle.empty() || !dated.empty(); }
  /// Whether the value of the hour was given, not the mean of its hour of the day.
  [[nodiscard]] bool covers(int64_t hour) const {
    return dated.empty() || (hour >= first_hour && hour - first_hour < std::ssize(dated));
  }
  /// Requires known().
  [[nodiscard]] double at(int64_t hour, int64_t utc_offset_h) const;
};

struct Prices {
  std::string currency;
  HourlyRate electricity;  ///< currency per kWh
  HourlyRate carbon_g;     ///< g of CO2 equivalents per kWh
  double pue = 1;
  std::optional<double> gpu_hour_value;
  std::optional<double> gpu_price;
  double gpu_life_h = 0;  ///< with gpu_price
  int64_t utc_offset_h = 0;
  std::optional<base::TimeNs> history_zero_ns;  ///< Unix time
  std::string hours;                            ///< file of dated hours; empty: none
  bool fills_gaps = false;
  int64_t filled_hours = 0;    ///< missing in that file
  int64_t negative_hours = 0;  ///< hours, of those given, in which electricity has a negative price

  [[nodiscard]] bool prices_energy() const { return electricity.known() || carbon_g.known(); }
  /// Money for a GPU-hour: its value, else the hardware's price over its life, else 0.
  [[nodiscard]] double gpu_hour_rate() const;
};

/// Parses the TOML file; `file` is its name in messages. The hours of `hours` are not read. Errors:
/// BadData with line, column, field and remedy.
[[nodiscard]] base::Result<Prices> parse_prices(std::string_view toml, const std::string& file);

/// Adds dated hours: a CSV with `time` (a date and time on the hour, UTC unless it has a zone) and
/// `electricity_per_kwh`, `carbon_g_per_kwh`, or one of them. Rows are one hour apart. A missing
/// hour or an empty cell is an error, or gets the mean of its hour of the day (of all hours, if
/// there is none) with `missing_hours = "mean"`. Errors: BadData with line, column, field and
/// remedy.
[[nodiscard]] base::Status parse_price_hours(std::string_view csv, const std::string& file,
                                             Prices& prices);

/// Reads the file, and the hours that it names, relative to its folder. Errors: also Failed if a
/// file cannot be read.
[[nodiscard]] base::Result<Prices> read_prices(const std::string& path);

}  // namespace goban::study::results
