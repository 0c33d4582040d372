#include "cli/study/painted_gains.hpp"

#include <algorithm>
#include <cmath>
#include <regex>

#include "base/number.hpp"
#include "cli/shell/terminal_style.hpp"

namespace goban::cli {
namespace {

Colour colour_of(std::string_view gain, std::string_view error) {
  if (error == "?") return Colour::None;
  if (gain.starts_with('+')) gain.remove_prefix(1);
  const double value = base::parse_double(gain).value_or(0);
  if (std::abs(value) <= base::parse_double(error).value_or(0)) return Colour::None;
  return value > 0 ? Colour::Good : Colour::Bad;
}

}  // namespace

std::string painted_gains(std::string_view text) {
  static const std::regex gain(R"(([+-]\d+\.\d)(?: ±(\d+\.\d|\?))? %)");
  // The tables end at the last empty line. Names of policies contain no blanks before a sign.
  const size_t end = std::min(text.size(), text.rfind("\n\n"));
  const std::string table(text.substr(0, end));
  std::string out;
  auto at = table.cbegin();
  for (std::sregex_iterator found(table.begin(), table.end(), gain), none; found != none; ++found) {
    out.append(at, (*found)[0].first);
    out += painted((*found)[0].str(), colour_of((*found)[1].str(), (*found)[2].str()));
    at = (*found)[0].second;
  }
  out.append(at, table.cend());
  return out + std::string(text.substr(end));
}

}  // namespace goban::cli
