#include "core/model/name_pattern.hpp"

#include <fmt/format.h>

#include "base/number.hpp"

namespace goban::core::model {
namespace {

constexpr std::string_view kDigits = "0123456789";

std::string with_doubled_braces(std::string_view text) {
  std::string out;
  for (const char c : text) out.append(c == '{' || c == '}' ? 2 : 1, c);
  return out;
}

}  // namespace

std::optional<NamePattern> NamePattern::parse(std::string_view pattern) {
  NamePattern out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    std::string& literal = out.has_number_ ? out.after_ : out.before_;
    if (c != '{' && c != '}') {
      literal += c;
    } else if (i + 1 < pattern.size() && pattern[i + 1] == c) {
      literal += c;
      ++i;
    } else {
      const size_t close = pattern.find('}', i);
      if (c == '}' || close == pattern.npos || out.has_number_) return std::nullopt;
      std::string_view spec = pattern.substr(i + 1, close - i - 1);
      if (!spec.empty()) {
        if (!spec.starts_with(":0")) return std::nullopt;
        spec.remove_prefix(2);
        const auto width = base::parse_int(spec);
        if (spec.find_first_not_of(kDigits) != spec.npos || !width || *width > kWidthMax) {
          return std::nullopt;
        }
        out.width_ = static_cast<int>(*width);
      }
      out.has_number_ = true;
      i = close;
    }
  }
  return out;
}

NamePattern NamePattern::of_name(std::string_view name, int64_t& number) {
  NamePattern out;
  const size_t last = name.find_last_of(kDigits);
  const size_t before = last == name.npos ? name.npos : name.find_last_not_of(kDigits, last);
  const size_t first = before == name.npos ? 0 : before + 1;
  if (last == name.npos || last + 1 - first > static_cast<size_t>(kWidthMax)) {
    out.before_ = name;
    return out;
  }
  const std::string_view digits = name.substr(first, last + 1 - first);
  number = *base::parse_int(digits);
  out.has_number_ = true;
  out.before_ = name.substr(0, first);
  out.after_ = name.substr(last + 1);
  // Without a leading zero the width is open, so that 9 and 10 have the same pattern.
  out.width_ = digits.size() > 1 && digits[0] == '0' ? static_cast<int>(digits.size()) : 0;
  return out;
}

std::string NamePattern::name(int64_t number) const {
  return has_number_ ? fmt::format("{}{:0{}}{}", before_, number, width_, after_) : before_;
}

std::string NamePattern::text() const {
  std::string out = with_doubled_braces(before_);
  if (has_number_) out += width_ == 0 ? "{}" : fmt::format("{{:0{}}}", width_);
  return out + with_doubled_braces(after_);
}

}  // namespace goban::core::model
