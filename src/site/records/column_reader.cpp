#include "site/records/column_reader.hpp"

#include <cmath>
#include <fmt/format.h>
#include <optional>

#include "base/number.hpp"

namespace goban::site::records {
namespace {

using base::kSecond;
using base::TimeNs;

constexpr size_t kDigitsExact = 15;  // every such integer is exact as a double

/// Value of `text` if it consists of 1 to kDigitsExact digits; otherwise nothing.
std::optional<int64_t> plain_digits(std::string_view text) {
  if (text.empty() || text.size() > kDigitsExact) return std::nullopt;
  int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

/// Integers written as `2.0`, as in tables that were converted to floating point.
std::optional<int64_t> whole_float(std::string_view text) {
  constexpr double kExact = 9e15;
  const auto value = base::parse_double(text);
  if (!value || std::abs(*value) > kExact || std::trunc(*value) != *value) return std::nullopt;
  return static_cast<int64_t>(*value);
}

/// Digits with a fraction of at most nine digits, exactly; a double would lose the nanoseconds of
/// seconds since 1970.
std::optional<TimeNs> plain_decimal_ns(std::string_view text) {
  const size_t point = text.find('.');
  const auto whole = plain_digits(text.substr(0, point));
  if (!whole || *whole > static_cast<int64_t>(base::kMaxSeconds)) return std::nullopt;
  if (point == text.npos) return *whole * kSecond;
  std::string_view fraction = text.substr(point + 1);
  while (fraction.ends_with('0')) fraction.remove_suffix(1);
  if (fraction.empty()) return *whole * kSecond;
  auto part = plain_digits(fraction);
  if (!part || fraction.size() > 9) return std::nullopt;
  for (size_t i = fraction.size(); i < 9; ++i) *part *= 10;
  return *whole * kSecond + *part;
}

}  // namespace

void ColumnReader::refuse(size_t column, std::string_view name, std::string_view what) {
  if (!problem_.empty()) return;
  constexpr size_t kShown = 40;
  const std::string_view text = fields_[column];
  problem_ = text.empty() ? fmt::format("{} is empty", name)
                          : fmt::format("{} \"{}\" {}", name, text.substr(0, kShown), what);
}

double ColumnReader::number(size_t column, std::string_view name) {
  const std::string_view text = fields_[column];
  if (const auto digits = plain_digits(text)) return static_cast<double>(*digits);
  const auto value = base::parse_double(text);
  if (!value) {
    refuse(column, name, "is not a finite number");
  } else if (*value < 0) {
    refuse(column, name, "is negative");
  }
  return value.value_or(0) + 0.0;  // no negative zero
}

int64_t ColumnReader::whole(size_t column, std::string_view name, int64_t least, int64_t most) {
  const std::string_view text = fields_[column];
  auto value = plain_digits(text);
  if (!value) value = base::parse_int(text);
  if (!value) value = whole_float(text);
  if (!value) {
    refuse(column, name, "is not an integer");
  } else if (*value < 0 && least >= 0) {
    refuse(column, name, "is negative");
  } else if (*value < least || *value > most) {
    refuse(column, name, fmt::format("is not between {} and {}", least, most));
  }
  return value.value_or(least);
}

TimeNs ColumnReader::seconds(size_t column, std::string_view name) {
  if (const auto exact = plain_decimal_ns(fields_[column])) return *exact;
  const double value = number(column, name);
  if (value > base::kMaxSeconds) {
    refuse(column, name, "exceeds 4.6e9 seconds");
    return 0;
  }
  return value < 0 ? 0 : base::from_seconds(value);
}

base::DateTime ColumnReader::date_time(size_t column, std::string_view name) {
  const auto value = base::parse_date_time(fields_[column]);
  if (!value) refuse(column, name, "is not a date and time such as 2017-10-09 07:01:55");
  if (!value || value->has_zone || zone_ == nullptr) return value.value_or(base::DateTime{});
  const int64_t local_s = value->unix_ns / base::kSecond;
  const auto moments = zone_->moments_of(local_s);
  if (moments.count == 0)
    refuse(column, name, "does not exist in the time zone: the clock was set forward");
  if (moments.count == 0 || moments.first_s < 0) return {};
  return {.unix_ns = moments.first_s * base::kSecond + value->unix_ns % base::kSecond,
          .has_zone = true};
}

}  // namespace goban::site::records
