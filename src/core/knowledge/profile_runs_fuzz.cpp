// Any bytes as a profile: accepted input gives scores that can be binned.
#include <array>
#include <cmath>
#include <cstdint>

#include "base/check.hpp"
#include "core/knowledge/binning.hpp"
#include "core/knowledge/robust_scores.hpp"
#include "core/knowledge/score_draw.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto runs = goban::core::knowledge::parse_profile_runs(text, "fuzz.csv");
  if (!runs) {
    GOBAN_CHECK(!runs.error().text().empty());
    return 0;
  }
  for (const goban::core::knowledge::RobustScore& robust :
       goban::core::knowledge::robust_scores(*runs)) {
    GOBAN_CHECK(std::isfinite(robust.score) && robust.score > 0);
    GOBAN_CHECK(robust.rejected < robust.runs);
  }
  const std::array by_class = {&*runs};
  for (const goban::core::knowledge::ScoreMode mode :
       {goban::core::knowledge::ScoreMode::Robust, goban::core::knowledge::ScoreMode::Median,
        goban::core::knowledge::ScoreMode::Run}) {
    const goban::core::knowledge::PmScores scores = goban::core::knowledge::bin_classes(
        goban::core::knowledge::draw_scores(8, by_class, mode, size).raw_by_class);
    GOBAN_CHECK(scores.num_gpus() == 8);
  }
  return 0;
}
