#include "base/units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <span>

#include "base/number.hpp"
#include "base/text.hpp"

namespace goban::base {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr double kKibi = 1024;
constexpr std::array<Unit, 9> kSizes = {{{"TiB", kKibi* kKibi* kKibi* kKibi},
                                         {"GiB", kKibi* kKibi* kKibi},
                                         {"MiB", kKibi* kKibi},
                                         {"KiB", kKibi},
                                         {"TB", 1e12},
                                         {"GB", 1e9},
                                         {"MB", 1e6},
                                         {"KB", 1e3},
                                         {"B", 1}}};
constexpr std::array<Unit, 5> kBits = {
    {{"Tb", 1e12 / 8}, {"Gb", 1e9 / 8}, {"Mb", 1e6 / 8}, {"Kb", 1e3 / 8}, {"b", 1.0 / 8}}};
// In nanoseconds.
constexpr std::array<Unit, 8> kSpans = {{{"d", 86400e9},
                                         {"h", 3600e9},
                                         {"m", 60e9},
                                         {"min", 60e9},
                                         {"s", 1e9},
                                         {"ms", 1e6},
                                         {"us", 1e3},
                                         {"ns", 1}}};
constexpr double kBytesMax = 0x1p62;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// A number, and its exact value if it is written as an integer.
struct Number {
  double value = 0;
  std::optional<int64_t> whole;

  /// The number times a unit, rounded once; the caller has checked the range of `value`.
  [[nodiscard]] int64_t times(double factor) const {
    if (whole) return *whole * static_cast<int64_t>(factor);
    return std::llround(value * factor);
  }
};

/// Consumes a finite number from the front of `text`.
std::optional<Number> take_number(std::string_view& text) {
  Number number;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number.value);
  if (error != std::errc{} || !std::isfinite(number.value)) return std::nullopt;
  const auto length = static_cast<size_t>(stop - text.data());
  number.whole = parse_int(text.substr(0, length));
  text.remove_prefix(length);
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return number;
}

std::optional<double> factor_of(std::span<const Unit> units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return unit.factor;
  }
  return std::nullopt;
}

tl::unexpected<Error> refused(std::string_view text, std::string_view what,
                              std::string_view example) {
  constexpr size_t kShown = 60;
  return bad_data({}, fmt::format("\"{}\" {}", text.substr(0, kShown), what),
                  fmt::format("such as {}", example));
}

constexpr std::string_view kSizeExample = "\"16 GiB\" or a number of bytes";
constexpr std::string_view kSpanExample = "\"72h\", \"01:30:00\" or a number of seconds";
constexpr std::string_view kBandwidthExample =
    "\"12.5 GB/s\", \"100 Gb/s\" or a number of bytes per second";

/// "hours:minutes:seconds" in seconds, or nullopt.
std::optional<double> parse_clock(std::string_view text) {
  const size_t first = text.find(':');
  const size_t second = first == text.npos ? first : text.find(':', first + 1);
  if (second == text.npos) return std::nullopt;
  const auto digits = [](std::string_view part, size_t most) -> std::optional<int64_t> {
    if (part.empty() || part.size() > most || part.find_first_not_of("0123456789") != part.npos) {
      return std::nullopt;
    }
    return parse_int(part);
  };
  const auto hours = digits(text.substr(0, first), 7);
  const auto minutes = digits(text.substr(first + 1, second - first - 1), 2);
  const auto seconds = digits(text.substr(second + 1), 2);
  if (!hours || !minutes || !seconds || *minutes > 59 || *seconds > 59) return std::nullopt;
  return static_cast<double>(*hours * 3600 + *minutes * 60 + *seconds);
}

}  // namespace

Result<int64_t> parse_bytes(std::string_view text) {
  std::string_view rest = trimmed(text);
  const auto number = take_number(rest);
  const auto factor = rest.empty() ? 1.0 : factor_of(kSizes, rest);
  if (!number || !factor) return refused(text, "is not a valid size", kSizeExample);
  if (number->value < 0) return refused(text, "is negative", kSizeExample);
  if (number->value * *factor >= kBytesMax) return refused(text, "is too large", kSizeExample);
  return number->times(*factor);
}

Result<TimeNs> parse_duration(std::string_view text) {
  constexpr double kSpanMax_ns = kMaxSeconds * 1e9;
  std::string_view rest = trimmed(text);
  if (const auto clock_s = parse_clock(rest)) {
    if (*clock_s > kMaxSeconds) return refused(text, "is too long", kSpanExample);
    return from_seconds(*clock_s);
  }
  TimeNs span_ns = 0;
  do {
    const auto number = take_number(rest);
    const std::string_view unit = rest.substr(0, rest.find_first_of(" \t0123456789"));
    const bool is_plain = unit.empty() && rest.empty() && span_ns == 0;
    const auto factor = is_plain ? 1e9 : factor_of(kSpans, unit);
    if (!number || !factor) return refused(text, "is not a valid duration", kSpanExample);
    if (number->value < 0) return refused(text, "is negative", kSpanExample);
    if (number->value * *factor + static_cast<double>(span_ns) > kSpanMax_ns) {
      return refused(text, "is too long", kSpanExample);
    }
    span_ns += number->times(*factor);
    rest = trimmed(rest.substr(unit.size()));
  } while (!rest.empty());
  return span_ns;
}

Result<double> parse_bandwidth(std::string_view text) {
  std::string_view rest = trimmed(text);
  const auto number = take_number(rest);
  std::optional<double> factor = 1.0;
  if (!rest.empty()) {
    if (!rest.ends_with("/s")) return refused(text, "is not a valid bandwidth", kBandwidthExample);
    rest.remove_suffix(2);
    factor = factor_of(kSizes, rest);
    if (!factor) factor = factor_of(kBits, rest);
  }
  if (!number || !factor) return refused(text, "is not a valid bandwidth", kBandwidthExample);
  if (number->value < 0) return refused(text, "is negative", kBandwidthExample);
  const double bytes_per_s = number->value * *factor;
  if (bytes_per_s >= kBytesMax) return refused(text, "is too large", kBandwidthExample);
  return bytes_per_s;
}

namespace {

/// The shortest exact form of `value` in one of the units.
std::string shortest(int64_t value, std::span<const Unit> units, std::string_view separator) {
  std::string best;
  for (const Unit& unit : units) {
    const auto factor = static_cast<int64_t>(unit.factor);
    if (value % factor != 0 || (value == 0 && factor != 1)) continue;
    std::string text = fmt::format("{}{}{}", value / factor, separator, unit.name);
    if (best.empty() || text.size() < best.size()) best = std::move(text);
  }
  return best;
}

}  // namespace

std::string bytes_text(int64_t bytes) { return shortest(bytes, kSizes, " "); }

std::string duration_text(TimeNs span_ns) { return shortest(span_ns, kSpans, ""); }

std::string human_seconds(double seconds) {
  const double size = std::abs(seconds);
  if (size < 120) return fmt::format("{:.1f} s", seconds);
  if (size < 7200) return fmt::format("{:.1f} min", seconds / 60);
  if (size < 172800) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.1f} d", seconds / 86400);
}

}  // namespace goban::base
