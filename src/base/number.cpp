#include "base/number.hpp"

#include <charconv>
#include <cmath>

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

void append_number(std::string& out, double value) {
  char buffer[32];
  const auto [stop, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  out.append(buffer, error == std::errc{} ? stop : buffer);
}

void append_number(std::string& out, int64_t value) {
  char buffer[24];
  const auto [stop, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  out.append(buffer, error == std::errc{} ? stop : buffer);
}

void append_seconds(std::string& out, TimeNs time_ns) {
  if (time_ns < 0) {
    out += '-';
    time_ns = -time_ns;
  }
  append_number(out, static_cast<int64_t>(time_ns / kSecond));
  int64_t fraction = time_ns % kSecond;
  if (fraction == 0) return;
  char digits[10];
  digits[0] = '.';
  for (int i = 9; i >= 1; --i, fraction /= 10) digits[i] = static_cast<char>('0' + fraction % 10);
  int length = 10;
  while (digits[length - 1] == '0') --length;
  out.append(digits, static_cast<size_t>(length));
}

std::string number_text(double value) {
  std::string out;
  append_number(out, value);
  return out;
}

}  // namespace goban::base
