// Releases of Slurm, and what differs between them.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string_view>

namespace goban::live::engine::slurm {

struct Version {
  int year = 0;
  int month = 0;
  friend auto operator<=>(const Version&, const Version&) = default;
};

/// Those that the tests were run with (tests/slurm/versions.py).
inline constexpr std::array kTried = {Version{20, 11}, Version{22, 5}, Version{24, 11}};

/// `said`: what `scontrol --version` printed, "slurm-wlm 22.05.8".
[[nodiscard]] std::optional<Version> parse_version(std::string_view said);

/// What stands before each resource that scontrol update sets.
[[nodiscard]] constexpr std::string_view gres_prefix(const Version& version) {
  constexpr Version kFirstWithPrefix{21, 8};
  return version < kFirstWithPrefix ? "" : "gres:";
}

}  // namespace goban::live::engine::slurm
