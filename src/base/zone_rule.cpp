#include "base/zone_rule.hpp"

#include <algorithm>
#include <chrono>

#include "base/time.hpp"

namespace goban::base {
namespace {

/// Dates and weekdays repeat after 400 years.
constexpr int64_t kCycle_s = 146'097 * kDay_s;
constexpr int kHoursOfOffset = 24;
constexpr int kHoursOfTime = 167;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

/// Maps a time to the equivalent one in the years 1970 to 2369.
int64_t in_cycle(int64_t unix_s) { return (unix_s % kCycle_s + kCycle_s) % kCycle_s; }

}  // namespace

/// Parses a TZ string from its front; each step returns false if the text does not match.
class ZoneRuleParser {
 public:
  explicit ZoneRuleParser(std::string_view text) : rest_(text) {}

  bool read(ZoneRule& rule) {
    int64_t west_s = 0;
    if (!name() || !span(kHoursOfOffset, west_s)) return false;
    rule.standard_s_ = -west_s;
    if (rest_.empty()) return true;
    rule.has_daylight_saving_ = true;
    west_s -= kHour_s;
    if (!name() || (!rest_.starts_with(',') && !span(kHoursOfOffset, west_s))) return false;
    rule.daylight_s_ = -west_s;
    return take(',') && day(rule.start_) && take(',') && day(rule.end_) && rest_.empty();
  }

 private:
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool name() {
    constexpr size_t kLettersLeast = 3;
    const bool quoted = take('<');
    size_t letters = 0;
    for (; letters < rest_.size(); ++letters) {
      const char c = rest_[letters];
      if (!is_letter(c) && !(quoted && (is_digit(c) || c == '+' || c == '-'))) break;
    }
    rest_.remove_prefix(letters);
    return letters >= kLettersLeast && (!quoted || take('>'));
  }
  bool number(int least, int most, int& value) {
    value = 0;
    size_t digits = 0;
    for (; digits < rest_.size() && is_digit(rest_[digits]) && value <= most; ++digits) {
      value = value * 10 + (rest_[digits] - '0');
    }
    rest_.remove_prefix(digits);
    return digits > 0 && value >= least && value <= most;
  }
  /// `[+-]hours[:minutes[:seconds]]`
  bool span(int hours_most, int64_t& seconds) {
    const bool negative = take('-');
    if (!negative) take('+');
    int hours = 0;
    int minutes = 0;
    int rest = 0;
    if (!number(0, hours_most, hours)) return false;
    if (take(':') && (!number(0, 59, minutes) || (take(':') && !number(0, 59, rest)))) return false;
    seconds = hours * kHour_s + minutes * kMinute_s + rest;
    if (negative) seconds = -seconds;
    return true;
  }
  bool date(ZoneRule::Day& out) {
    using Kind = ZoneRule::Day::Kind;
    int value = 0;
    if (take('M')) {
      int month = 0;
      int week = 0;
      if (!number(1, 12, month) || !take('.') || !number(1, 5, week) || !take('.')) return false;
      if (!number(0, 6, value)) return false;
      out = {.kind = Kind::MonthWeekDay,
             .month = static_cast<uint8_t>(month),
             .week = static_cast<uint8_t>(week)};
    } else if (take('J')) {
      if (!number(1, 365, value)) return false;
      out = {.kind = Kind::WithoutLeapDay};
    } else if (number(0, 365, value)) {
      out = {.kind = Kind::WithLeapDay};
    } else {
      return false;
    }
    out.day = static_cast<uint16_t>(value);
    return true;
  }
  bool day(ZoneRule::Day& out) {
    if (!date(out)) return false;
    int64_t time_s = 2 * kHour_s;
    if (take('/') && !span(kHoursOfTime, time_s)) return false;
    out.time_s = static_cast<int32_t>(time_s);
    return true;
  }

  std::string_view rest_;
};

std::optional<ZoneRule> ZoneRule::parse(std::string_view text) {
  ZoneRule rule;
  if (!ZoneRuleParser(text).read(rule)) return std::nullopt;
  return rule;
}

int64_t ZoneRule::local_seconds(const Day& day, int year) {
  namespace chrono = std::chrono;
  const chrono::year in(year);
  chrono::sys_days date = in / chrono::January / 1;
  if (day.kind == Day::Kind::MonthWeekDay) {
    const chrono::weekday weekday(day.day);
    const chrono::month month(day.month);
    constexpr uint8_t kLastWeek = 5;
    date = day.week == kLastWeek ? chrono::sys_days(in / month / weekday[chrono::last])
                                 : chrono::sys_days(in / month / weekday[day.week]);
  } else if (day.kind == Day::Kind::WithoutLeapDay) {
    constexpr int kFirstOfMarch = 60;
    date += chrono::days(day.day - (in.is_leap() && day.day >= kFirstOfMarch ? 0 : 1));
  } else {
    date += chrono::days(day.day);
  }
  return date.time_since_epoch().count() * kDay_s + day.time_s;
}

std::array<ZoneRule::Change, 8> ZoneRule::around(int64_t moment_s) const {
  const std::chrono::year_month_day date{
      std::chrono::sys_days(std::chrono::days(moment_s / kDay_s))};
  const int year = static_cast<int>(date.year());
  std::array<Change, 8> changes;
  // Hours beyond the day carry changes of the previous year into this one.
  for (size_t i = 0; i < changes.size() / 2; ++i) {
    const int of = year - 2 + static_cast<int>(i);
    changes[2 * i] = {local_seconds(start_, of) - standard_s_, true};
    changes[2 * i + 1] = {local_seconds(end_, of) - daylight_s_, false};
  }
  // At equal times the start comes last: daylight saving time of the entire year does not end.
  std::ranges::sort(changes);
  return changes;
}

int64_t ZoneRule::offset_at(int64_t unix_s) const {
  if (!has_daylight_saving_) return standard_s_;
  const int64_t moment_s = in_cycle(unix_s);
  const auto changes = around(moment_s);
  const auto after = std::ranges::upper_bound(changes, moment_s, {}, &Change::unix_s);
  const bool daylight = after != changes.begin() && std::prev(after)->to_daylight_saving;
  return daylight ? daylight_s_ : standard_s_;
}

ZoneRule::Changes ZoneRule::changes_near(int64_t unix_s) const {
  const int64_t moment_s = in_cycle(unix_s);
  Changes out{};
  std::ranges::transform(around(moment_s), out.begin(),
                         [&](const Change& change) { return change.unix_s + (unix_s - moment_s); });
  return out;
}

}  // namespace goban::base
