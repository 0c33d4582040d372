#include "site/records/clock_reader.hpp"

#include <charconv>
#include <cstring>

#include "base/date_time.hpp"
#include "base/number.hpp"
#include "base/time.hpp"

namespace goban::site::records {
namespace {

constexpr size_t kDayChars = 10;
constexpr size_t kStampChars = 19;

/// Value of two digits; 100 or more if they are not digits.
uint32_t two_digits(const char* at) {
  const auto tens = static_cast<uint32_t>(static_cast<unsigned char>(at[0])) - '0';
  const auto ones = static_cast<uint32_t>(static_cast<unsigned char>(at[1])) - '0';
  return tens > 9 || ones > 9 ? 100 : tens * 10 + ones;
}

}  // namespace

bool ClockReader::day_start(std::string_view day, int64_t& unix_s) {
  uint64_t hash = 0;
  std::memcpy(&hash, day.data() + 2, sizeof hash);  // "19-04-05": the part that differs
  Day& slot = days_[(hash * 0x9e3779b97f4a7c15ULL) >> 58];
  if (std::memcmp(slot.text.data(), day.data(), kDayChars) != 0) {
    const auto parsed = base::parse_date_time(std::string(day) + " 00:00:00");
    if (!parsed) return false;
    std::memcpy(slot.text.data(), day.data(), kDayChars);
    slot.unix_s = parsed->unix_ns / base::kSecond;
  }
  unix_s = slot.unix_s;
  return true;
}

Moment ClockReader::local(int64_t local_s, base::TimeNs fraction_ns) {
  if (zone_.is_utc()) return {MomentKind::Given, local_s * base::kSecond + fraction_ns, -1};
  const auto moments = zone_.moments_of(local_s);
  if (moments.count == 0) return {MomentKind::Skipped, -1, -1};
  if (moments.first_s < 0) return {MomentKind::Bad, -1, -1};
  Moment out{MomentKind::Given, moments.first_s * base::kSecond + fraction_ns, -1};
  if (moments.count > 1) {
    out.second_ns = moments.second_s * base::kSecond + fraction_ns;
    ++ambiguous_;
  }
  return out;
}

Moment ClockReader::read(std::string_view text) {
  if (text.size() == kStampChars && (text[10] == 'T' || text[10] == ' ') && text[13] == ':' &&
      text[16] == ':') {
    const uint32_t hour = two_digits(text.data() + 11);
    const uint32_t minute = two_digits(text.data() + 14);
    const uint32_t second = two_digits(text.data() + 17);
    int64_t day_s = 0;
    if (hour > 23 || minute > 59 || second > 59 || !day_start(text.substr(0, kDayChars), day_s)) {
      return {MomentKind::Bad, -1, -1};
    }
    used_zone_ = true;
    return local(day_s + int64_t{hour} * 3600 + int64_t{minute} * 60 + second, 0);
  }
  return read_slowly(text);
}

Moment ClockReader::read_slowly(std::string_view text) {
  if (text.empty() || text == "Unknown" || text == "None" || text == "N/A" || text == "0")
    return {};
  constexpr size_t kMilliDigits = 13;
  if (const auto number = base::parse_int(text)) {
    const bool is_ms = text.size() >= kMilliDigits;
    const int64_t most = static_cast<int64_t>(base::kMaxSeconds) * (is_ms ? 1000 : 1);
    if (*number < 0 || *number > most) return {MomentKind::Bad, -1, -1};
    return {MomentKind::Given, *number * (is_ms ? base::kMillisecond : base::kSecond), -1};
  }
  const auto parsed = base::parse_date_time(text);
  if (!parsed) return {MomentKind::Bad, -1, -1};
  if (parsed->has_zone) return {MomentKind::Given, parsed->unix_ns, -1};
  used_zone_ = true;
  return local(parsed->unix_ns / base::kSecond, parsed->unix_ns % base::kSecond);
}

}  // namespace goban::site::records
