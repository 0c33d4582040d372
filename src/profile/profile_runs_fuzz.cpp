// Any bytes may claim to be a profile; what is accepted gives scores that can be binned.
#include <array>
#include <cmath>
#include <cstdint>

#include "base/check.hpp"
#include "profile/binning.hpp"
#include "profile/robust_scores.hpp"
#include "profile/score_draw.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::profile;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto profile = parse_profile_runs(text, "fuzz.csv");
  if (!profile) {
    GOBAN_CHECK(!profile.error().text().empty());
    return 0;
  }
  for (const RobustScore& robust : robust_scores(*profile)) {
    GOBAN_CHECK(std::isfinite(robust.score) && robust.score > 0);
    GOBAN_CHECK(robust.rejected < robust.runs);
  }
  const std::array by_class = {&*profile};
  for (const ScoreMode mode : {ScoreMode::Robust, ScoreMode::Median, ScoreMode::Run}) {
    const PmScores scores = bin_classes(draw_scores(8, by_class, mode, size).raw_by_class);
    GOBAN_CHECK(scores.num_gpus() == 8);
  }
  return 0;
}
