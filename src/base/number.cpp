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
  char text[32];
  char* end = text;
  if (time_ns < 0) {
    *end++ = '-';
    time_ns = -time_ns;
  }
  end = std::to_chars(end, text + sizeof text, time_ns / kSecond).ptr;
  if (int64_t fraction = time_ns % kSecond; fraction != 0) {
    *end = '.';
    for (int digit = 9; digit >= 1; --digit, fraction /= 10) {
      end[digit] = static_cast<char>('0' + fraction % 10);
    }
    end += 10;
    while (end[-1] == '0') --end;
  }
  out.append(text, end);
}

std::string number_text(double value) {
  std::string out;
  append_number(out, value);
  return out;
}

}  // namespace goban::base
