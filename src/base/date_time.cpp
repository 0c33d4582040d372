#include "base/date_time.hpp"

#include <chrono>
#include <ctime>
#include <fmt/format.h>

#include "base/time.hpp"

namespace goban::base {
namespace {

/// Consumes numbers and separators from the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  /// Exactly `digits` digits.
  int number(size_t digits) {
    int value = 0;
    for (size_t i = 0; i < digits; ++i) {
      if (i >= rest_.size() || rest_[i] < '0' || rest_[i] > '9') {
        failed_ = true;
        return 0;
      }
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(digits);
    return value;
  }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void require(bool condition) { failed_ |= !condition; }
  /// Digits of a fraction of a second, at most nine, as nanoseconds.
  int64_t fraction_ns() {
    int64_t value_ns = 0;
    int64_t digit_ns = kSecond;
    while (digit_ns > 1 && !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      digit_ns /= 10;
      value_ns += digit_ns * number(1);
    }
    require(digit_ns < kSecond);
    return value_ns;
  }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

/// Seconds east of UTC of `Z`, `+08:00`, `-0730`.
int64_t zone_s(Scanner& scan) {
  if (scan.take('Z')) return 0;
  const int64_t sign = scan.take('-') ? -1 : 1;
  if (sign > 0) scan.require(scan.take('+'));
  const int64_t hours = scan.number(2);
  scan.take(':');
  const int64_t minutes = scan.number(2);
  scan.require(hours < 24 && minutes < 60);
  return sign * (hours * 3600 + minutes * 60);
}

}  // namespace

std::optional<DateTime> parse_date_time(std::string_view text) {
  Scanner scan(text);
  const int year = scan.number(4);
  scan.require(scan.take('-'));
  const int month = scan.number(2);
  scan.require(scan.take('-'));
  const int day = scan.number(2);
  scan.require(scan.take(' ') || scan.take('T'));
  const int64_t hour = scan.number(2);
  scan.require(scan.take(':'));
  const int64_t minute = scan.number(2);
  scan.require(scan.take(':'));
  const int64_t second = scan.number(2);
  const int64_t fraction_ns = scan.take('.') ? scan.fraction_ns() : 0;
  DateTime result;
  result.has_zone = !scan.at_end();
  const int64_t east_s = result.has_zone ? zone_s(scan) : 0;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  scan.require(scan.at_end() && date.ok() && hour < 24 && minute < 60 && second < 60);
  if (scan.failed()) return std::nullopt;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const int64_t unix_s = days * kDay_s + hour * kHour_s + minute * kMinute_s + second - east_s;
  if (unix_s < 0 || unix_s > static_cast<int64_t>(kMaxSeconds)) return std::nullopt;
  result.unix_ns = unix_s * kSecond + fraction_ns;
  return result;
}

std::string date_text(TimeNs unix_ns) {
  const std::chrono::sys_days day{std::chrono::days(unix_ns / kSecond / kDay_s)};
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::string date_time_text(TimeNs unix_ns) {
  const int64_t of_day_s = unix_ns / kSecond % kDay_s;
  return fmt::format("{} {:02}:{:02}:{:02}", date_text(unix_ns), of_day_s / 3600,
                     of_day_s / 60 % 60, of_day_s % 60);
}

TimeNs local_to_unix(TimeNs local_ns) {
  const auto clock_s = static_cast<std::time_t>(local_ns / kSecond);
  std::tm parts{};
  gmtime_r(&clock_s, &parts);
  parts.tm_isdst = -1;
  return TimeNs{std::mktime(&parts)} * kSecond;
}

TimeNs unix_to_local(TimeNs unix_ns) {
  const auto unix_s = static_cast<std::time_t>(unix_ns / kSecond);
  std::tm parts{};
  localtime_r(&unix_s, &parts);
  return TimeNs{timegm(&parts)} * kSecond;
}

}  // namespace goban::base
