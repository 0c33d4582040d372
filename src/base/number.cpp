#include "base/number.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace goban::base {

std::optional<double> parse_double(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<int64_t> parse_int(std::string_view text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

namespace {

constexpr auto kPairs = [] {
  std::array<char, 200> pairs{};
  for (size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

/// Writes nine digits, with zeros in front.
void nine_digits(char* at, uint32_t value) {
  for (size_t to = 7; to < 9; to -= 2, value /= 100) {
    std::memcpy(at + to, &kPairs[size_t{2} * (value % 100)], 2);
  }
  *at = static_cast<char>('0' + value);
}

}  // namespace

void append_number(std::string& out, double value) {
  // Integers are far more common, and shorter to write; from 1e5 on, powers of ten may be shorter.
  if (value >= 0 && value < 1e5 && value == static_cast<double>(static_cast<int32_t>(value)) &&
      !std::signbit(value)) {
    return append_number(out, static_cast<int64_t>(value));
  }
  char buffer[32];
  const auto [stop, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  if (error == std::errc{}) out.append(buffer, static_cast<size_t>(stop - buffer));
}

void append_number(std::string& out, int64_t value) {
  char buffer[24];
  const auto [stop, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  if (error == std::errc{}) out.append(buffer, static_cast<size_t>(stop - buffer));
}

void append_seconds(std::string& out, TimeNs time_ns) {
  char text[32];
  char* end = text;
  if (time_ns < 0) {
    *end++ = '-';
    time_ns = -time_ns;
  }
  end = std::to_chars(end, text + sizeof text, time_ns / kSecond).ptr;
  if (const int64_t fraction = time_ns % kSecond; fraction != 0) {
    constexpr int64_t kMilli = kSecond / 1000;
    *end = '.';
    if (fraction % kMilli == 0) {  // most times in job histories
      const auto thousandths = static_cast<size_t>(fraction / kMilli);
      end[1] = static_cast<char>('0' + thousandths / 100);
      std::memcpy(end + 2, &kPairs[2 * (thousandths % 100)], 2);
      end += 4;
    } else {
      nine_digits(end + 1, static_cast<uint32_t>(fraction));
      end += 10;
    }
    while (end[-1] == '0') --end;
  }
  out.append(text, static_cast<size_t>(end - text));
}

std::string number_text(double value) {
  std::string out;
  append_number(out, value);
  return out;
}

}  // namespace goban::base
