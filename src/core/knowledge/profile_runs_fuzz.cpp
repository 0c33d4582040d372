// Any bytes may claim to be a profile; what is accepted gives scores that can be binned.
#include <array>
#include <cmath>
#include <cstdint>

#include "base/check.hpp"
#include "profile/binning.hpp"
#include "profile/robust_scores.hpp"
#include "profile/score_draw.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace profile = goban::profile;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto runs = profile::parse_profile_runs(text, "fuzz.csv");
  if (!runs) {
    GOBAN_CHECK(!runs.error().text().empty());
    return 0;
  }
  for (const profile::RobustScore& robust : profile::robust_scores(*runs)) {
    GOBAN_CHECK(std::isfinite(robust.score) && robust.score > 0);
    GOBAN_CHECK(robust.rejected < robust.runs);
  }
  const std::array by_class = {&*runs};
  for (const profile::ScoreMode mode :
       {profile::ScoreMode::Robust, profile::ScoreMode::Median, profile::ScoreMode::Run}) {
    const profile::PmScores scores =
        profile::bin_classes(profile::draw_scores(8, by_class, mode, size).raw_by_class);
    GOBAN_CHECK(scores.num_gpus() == 8);
  }
  return 0;
}
