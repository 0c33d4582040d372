// The output of goban top and goban stats.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/shell/terminal_style.hpp"

namespace goban::cli {

/// `cluster`, `jobs` and `stats`: responses of the API. At most `lines_max` lines (0: all).
[[nodiscard]] std::string top_text(const nlohmann::json& cluster, const nlohmann::json& jobs,
                                   const nlohmann::json& stats, double now_s, size_t lines_max,
                                   const TerminalStyle& style = {});
/// A line for each node on which launches are held; empty if there is none.
[[nodiscard]] std::string holds_text(const nlohmann::json& stats);
[[nodiscard]] std::string stats_text(const nlohmann::json& stats);

}  // namespace goban::cli
