#include "history/job_format.hpp"

#include <algorithm>
#include <array>

namespace goban::history {

std::span<const JobFormat> job_formats() {
  static const std::array formats = {kGenericCsv, kPalCsv};
  return formats;
}

std::optional<size_t> find_column(const Header& header, std::string_view name) {
  const auto found = std::ranges::find(header, name);
  if (found == header.end()) return std::nullopt;
  return static_cast<size_t>(found - header.begin());
}

}  // namespace goban::history
