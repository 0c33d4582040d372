#include "base/time_zone.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include "base/text_file.hpp"

namespace goban::base {
namespace {

constexpr size_t kHeaderBytes = 44;
/// Maximum offset east or west of UTC (RFC 8536, section 3.2).
constexpr int64_t kOffsetMax_s = int64_t{26} * 3600;

/// Reads big-endian integers of a zone file; past the end they are 0 and `failed` is set.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : rest_(bytes) {}
  int64_t number(size_t width) {
    if (rest_.size() < width) {
      failed = true;
      rest_ = {};
      return 0;
    }
    uint64_t value = static_cast<signed char>(rest_[0]) < 0 ? UINT64_MAX : 0;
    for (size_t i = 0; i < width; ++i) value = value << 8 | static_cast<unsigned char>(rest_[i]);
    rest_.remove_prefix(width);
    return static_cast<int64_t>(value);
  }
  uint8_t byte() { return static_cast<uint8_t>(number(1)); }
  /// A text between two line feeds.
  std::string_view line() {
    const size_t end = rest_.starts_with('\n') ? rest_.find('\n', 1) : rest_.npos;
    failed |= end == rest_.npos;
    return failed ? std::string_view() : rest_.substr(1, end - 1);
  }
  void skip(int64_t count) {
    failed |= count < 0 || static_cast<size_t>(count) > rest_.size();
    rest_.remove_prefix(failed ? rest_.size() : static_cast<size_t>(count));
  }
  bool failed = false;

 private:
  std::string_view rest_;
};

struct Counts {
  int64_t ut, std, leap, time, type, chars;
};

Counts read_header(Bytes& bytes) {
  bytes.skip(20);
  Counts counts{};
  for (int64_t* count :
       {&counts.ut, &counts.std, &counts.leap, &counts.time, &counts.type, &counts.chars}) {
    *count = bytes.number(4);
    bytes.failed |= *count < 0;
  }
  return counts;
}

/// Seconds of "+09:00", "-0730", "+09", "+9"; nothing else.
bool parse_offset(std::string_view text, int64_t& offset_s) {
  if (text.size() < 2 || (text[0] != '+' && text[0] != '-')) return false;
  const int64_t sign = text[0] == '-' ? -1 : 1;
  int64_t value = 0;
  size_t digits = 0;
  for (const char c : text.substr(1)) {
    if (c == ':' && digits == 2) continue;
    if (c < '0' || c > '9' || ++digits > 4) return false;
    value = value * 10 + (c - '0');
  }
  if (digits == 3) return false;
  const int64_t hours = digits == 4 ? value / 100 : value;
  const int64_t minutes = digits == 4 ? value % 100 : 0;
  offset_s = sign * (hours * 3600 + minutes * 60);
  return hours <= 15 && minutes < 60;
}

}  // namespace

Result<TimeZone> TimeZone::parse(std::string_view bytes) {
  const auto broken = [] { return bad_data({}, "not a valid zone file", "RFC 8536, version 2"); };
  if (!bytes.starts_with("TZif") || bytes.size() < kHeaderBytes || bytes[4] < '2') return broken();
  Bytes in(bytes);
  const Counts first = read_header(in);  // 32-bit times, which the second block repeats
  if (in.failed) return broken();
  in.skip(first.time * 5 + first.type * 6 + first.chars + first.leap * 8 + first.std + first.ut);
  const Counts counts = read_header(in);
  if (in.failed || counts.type == 0 || counts.time > int64_t{1} << 20) return broken();
  std::vector<int64_t> times;
  std::vector<uint8_t> types;
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < counts.time; ++i) times.push_back(in.number(8));
  for (int64_t i = 0; i < counts.time; ++i) types.push_back(in.byte());
  for (int64_t i = 0; i < counts.type && !in.failed; ++i) {
    offsets.push_back(in.number(4));
    in.failed |= std::abs(offsets.back()) > kOffsetMax_s;
    in.skip(2);
  }
  in.skip(counts.chars + counts.leap * 12 + counts.std + counts.ut);
  const std::string_view footer = in.line();
  if (in.failed || !std::ranges::is_sorted(times)) return broken();
  TimeZone zone;
  zone.offset_s_ = offsets[0];
  const auto rule = ZoneRule::parse(footer);
  if (!rule && !footer.empty()) return broken();
  if (rule && rule->has_daylight_saving()) {
    zone.rule_ = rule;
  } else if (rule && times.empty()) {
    zone.offset_s_ = rule->offset_at(0);
  }
  for (size_t i = 0; i < times.size(); ++i) {
    if (types[i] >= offsets.size()) return broken();
    zone.changes_.push_back({times[i], offsets[types[i]]});
  }
  return zone;
}

Result<TimeZone> TimeZone::load(const std::string& name) {
  TimeZone zone;
  if (name.empty() || name == "UTC" || parse_offset(name, zone.offset_s_)) return zone;
  const std::string path = "/usr/share/zoneinfo/" + name;
  constexpr size_t kZoneBytesMax = size_t{1} << 20;
  const bool is_name = name.front() != '/' && name.find("..") == name.npos;
  const auto text = is_name ? read_text_file(path, kZoneBytesMax) : Result<std::string>();
  auto parsed = text && is_name ? parse(*text) : Result<TimeZone>(bad_data({}, ""));
  if (parsed) return parsed;
  return usage_error(
      fmt::format("unknown time zone {}", name),
      "write UTC, +09:00, or a name such as Asia/Tokyo (requires the package tzdata)");
}

int64_t TimeZone::offset_at(int64_t unix_s) const {
  if (rule_ && (changes_.empty() || unix_s >= changes_.back().unix_s)) {
    return rule_->offset_at(unix_s);
  }
  const auto after = std::ranges::upper_bound(changes_, unix_s, {}, &Change::unix_s);
  return after == changes_.begin() ? offset_s_ : std::prev(after)->offset_s;
}

TimeZone::Moments TimeZone::moments_of(int64_t local_s) const {
  Moments out;
  const int64_t first_s = local_s - kOffsetMax_s;
  const int64_t last_s = local_s + kOffsetMax_s;
  int64_t from_s = INT64_MIN;
  int64_t offset_s = offset_at(first_s);
  const auto take = [&](int64_t until_s) {
    const int64_t unix_s = local_s - offset_s;
    if (unix_s < from_s || unix_s >= until_s || out.count == 2) return;
    (out.count++ == 0 ? out.first_s : out.second_s) = unix_s;
  };
  const auto change_at = [&](int64_t unix_s) {
    take(unix_s);
    from_s = unix_s;
    offset_s = offset_at(unix_s);
  };
  const auto near = std::ranges::upper_bound(changes_, first_s, {}, &Change::unix_s);
  for (auto at = near; at != changes_.end() && at->unix_s <= last_s; ++at) change_at(at->unix_s);
  const int64_t listed_s = changes_.empty() ? INT64_MIN : changes_.back().unix_s;
  if (rule_ && last_s > listed_s) {
    for (const int64_t unix_s : rule_->changes_near(local_s)) {
      if (unix_s > std::max(first_s, listed_s) && unix_s <= last_s) change_at(unix_s);
    }
  }
  take(INT64_MAX);
  return out;
}

}  // namespace goban::base
