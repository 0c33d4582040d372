#include "live/engine/slurm/version.hpp"

#include "base/number.hpp"
#include "base/text.hpp"

namespace goban::live::engine::slurm {

std::optional<Version> parse_version(std::string_view said) {
  said = base::trimmed(said);
  said.remove_prefix(said.rfind(' ') == said.npos ? 0 : said.rfind(' ') + 1);
  const size_t dot = said.find('.');
  if (dot == said.npos) return std::nullopt;
  const std::string_view rest = said.substr(dot + 1);
  const auto year = base::parse_int(said.substr(0, dot));
  // "24.11.0rc1", "25.05-0rc1"
  const auto month = base::parse_int(rest.substr(0, rest.find_first_of(".-")));
  constexpr int64_t kMost = 99;
  if (!year || !month || *year < 0 || *year > kMost || *month < 0 || *month > kMost) {
    return std::nullopt;
  }
  return Version{static_cast<int>(*year), static_cast<int>(*month)};
}

}  // namespace goban::live::engine::slurm
