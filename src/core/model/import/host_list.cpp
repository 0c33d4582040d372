#include "core/model/import/host_list.hpp"

#include <fmt/format.h>

#include "base/number.hpp"
#include "core/model/cluster_file.hpp"

namespace goban::core::model {
namespace {

using base::Result;
using Names = std::vector<std::string>;

tl::unexpected<base::Error> refuse(std::string_view what, const char* why) {
  return base::bad_data({}, fmt::format("\"{}\" {}", what.substr(0, 80), why),
                        "a host list has the form g[001-004,7],login1");
}

/// "001-004,7" -> 001 002 003 004 7.
Result<Names> expand_ranges(std::string_view ranges) {
  Names out;
  for (size_t begin = 0; begin <= ranges.size();) {
    const size_t comma = std::min(ranges.find(',', begin), ranges.size());
    const std::string_view range = ranges.substr(begin, comma - begin);
    begin = comma + 1;
    const size_t dash = range.find('-');
    const std::string_view low_text = range.substr(0, dash);
    const std::string_view high_text = dash == range.npos ? low_text : range.substr(dash + 1);
    constexpr std::string_view kDigits = "0123456789";
    const auto is_number = [&](std::string_view text) {
      constexpr size_t kDigitsMax = 12;
      return !text.empty() && text.size() <= kDigitsMax &&
             text.find_first_not_of(kDigits) == text.npos;
    };
    if (!is_number(low_text) || !is_number(high_text)) return refuse(range, "is not a valid range");
    const int64_t low = *base::parse_int(low_text);
    const int64_t high = *base::parse_int(high_text);
    if (high < low || high - low >= kNodesMax) return refuse(range, "is not a valid range");
    for (int64_t i = low; i <= high; ++i) {
      out.push_back(fmt::format("{:0{}}", i, low_text.size()));
    }
    if (static_cast<int64_t>(out.size()) > kNodesMax) return refuse(ranges, "names too many nodes");
  }
  return out;
}

/// One entry without commas outside of brackets: "r[1-2]n[01-04]".
Result<Names> expand_entry(std::string_view entry) {
  Names names = {""};
  while (!entry.empty()) {
    const size_t open = std::min(entry.find('['), entry.size());
    for (std::string& name : names) name += entry.substr(0, open);
    entry.remove_prefix(open);
    if (entry.empty()) break;
    const size_t close = entry.find(']');
    if (close == entry.npos) return refuse(entry, "has no closing bracket");
    const auto numbers = expand_ranges(entry.substr(1, close - 1));
    if (!numbers) return base::failure(numbers.error());
    entry.remove_prefix(close + 1);
    if (names.size() * numbers->size() > static_cast<size_t>(kNodesMax)) {
      return refuse(entry, "names too many nodes");
    }
    Names longer;
    for (const std::string& name : names) {
      for (const std::string& number : *numbers) longer.push_back(name + number);
    }
    names = std::move(longer);
  }
  return names;
}

}  // namespace

Result<Names> expand_host_list(std::string_view list) {
  Names out;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    const char c = i < list.size() ? list[i] : ',';
    depth += c == '[' ? 1 : 0;
    depth -= c == ']' ? 1 : 0;
    const bool at_end = i == list.size();
    if (!at_end && (c != ',' || depth > 0)) continue;
    if (i > begin) {
      const auto names = expand_entry(list.substr(begin, i - begin));
      if (!names) return base::failure(names.error());
      out.insert(out.end(), names->begin(), names->end());
      if (static_cast<int64_t>(out.size()) > kNodesMax) return refuse(list, "names too many nodes");
    }
    begin = i + 1;
  }
  return out;
}

}  // namespace goban::core::model
