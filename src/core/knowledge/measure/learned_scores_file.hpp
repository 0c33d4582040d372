// The state of LearnedScores as JSON, kept across restarts of the daemon.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/knowledge/measure/learned_scores.hpp"

namespace goban::core::knowledge {

[[nodiscard]] std::string to_json(const LearnedScores::Image& image);
/// Errors: BadData with `file` and the problem. A newer version is rejected; unknown fields are
/// ignored.
[[nodiscard]] base::Result<LearnedScores::Image> parse_learned_scores(std::string_view text,
                                                                      const std::string& file);

}  // namespace goban::core::knowledge
