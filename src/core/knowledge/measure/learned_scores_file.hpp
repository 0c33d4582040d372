// What LearnedScores remembers between two lives of a daemon, as JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/knowledge/measure/learned_scores.hpp"

namespace goban::core::knowledge {

[[nodiscard]] std::string to_json(const LearnedScores::Image& image);
/// Errors: BadData naming `file` and what is wrong; a newer version is refused, unknown fields are
/// ignored.
[[nodiscard]] base::Result<LearnedScores::Image> parse_learned_scores(std::string_view text,
                                                                      const std::string& file);

}  // namespace goban::core::knowledge
