// After removal nothing in the state folder names the user, and the scores are unchanged.
#include "serve/daemon/forget_user.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>
#include <unistd.h>

#include "core/knowledge/measure/learned_scores_file.hpp"
#include "live/journal/state_lock.hpp"

namespace goban::serve::daemon {
namespace {

using core::knowledge::LearnedScores;
using testing::HasSubstr;
using testing::Not;

constexpr uint32_t kAnna = 51'234;
constexpr uint32_t kBen = 51'235;

class ForgetUser : public testing::Test {
 public:
  ForgetUser() {
    char pattern[] = "/tmp/goban_forget_XXXXXX";
    state = ::mkdtemp(pattern);
    std::filesystem::create_directories(state + "/journal");
    std::filesystem::create_directories(state + "/profiles");
    std::ofstream(state + "/profiles/51234-aa.json") << R"({"version":1,"model":"annas-model"})";
    std::ofstream(state + "/profiles/51235-bb.json") << R"({"version":1,"model":"bens-model"})";
    LearnedScores learned({"GPU-0", "GPU-1"}, {{1.0, 1.2}});
    LearnedScores::Image image = learned.image();
    image.learner.places[0][1].votes = {{kAnna, 0.1}, {kBen, 0.2}, {kAnna, 0.3}};
    image.learner.baselines[{kAnna, 7}].log_unit[1] = 0.5;
    image.learner.baselines[{kBen, 7}].log_unit[0] = 0.25;
    write(image);
  }
  ~ForgetUser() override { std::filesystem::remove_all(state); }

  void write(const LearnedScores::Image& image) const {
    std::ofstream(state + "/scores.learned.json") << core::knowledge::to_json(image);
  }
  std::string learned_text() const {
    std::ostringstream text;
    text << std::ifstream(state + "/scores.learned.json").rdbuf();
    return text.str();
  }
  std::string state;
};

TEST_F(ForgetUser, WhatHisJobsSaidIsNobodysAndItsWeightStays) {
  const auto before = core::knowledge::parse_learned_scores(learned_text(), "").value();
  const auto done = forget_in_state(state, kAnna);
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(done->profiles, 1U);
  EXPECT_EQ(done->voices, 3U);
  EXPECT_FALSE(std::filesystem::exists(state + "/profiles/51234-aa.json"));
  EXPECT_TRUE(std::filesystem::exists(state + "/profiles/51235-bb.json"));
  EXPECT_THAT(learned_text(), Not(HasSubstr("51234")));
  auto after = core::knowledge::parse_learned_scores(learned_text(), "").value();
  auto& votes = after.learner.places[0][1].votes;
  ASSERT_EQ(votes.size(), 3U);
  EXPECT_EQ(votes[0].user, votes[2].user) << "still the evidence of one user";
  EXPECT_EQ(votes[1].user, kBen);
  const uint32_t nobody = votes[0].user;
  EXPECT_GE(nobody, 0x8000'0000U);
  EXPECT_EQ(after.learner.baselines.count({nobody, 7}), 1U);
  EXPECT_EQ(after.learner.raw, before.learner.raw);
  const auto again = forget_in_state(state, kAnna);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->profiles + again->voices, 0U);
}

TEST_F(ForgetUser, NotUnderADaemonThatWorks) {
  const auto daemon = live::journal::StateLock::take(state);
  ASSERT_TRUE(daemon);
  const auto refused = forget_in_state(state, kAnna);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("stop the daemon"));
  EXPECT_TRUE(std::filesystem::exists(state + "/profiles/51234-aa.json"));
}

TEST_F(ForgetUser, WhatIsBrokenIsNamedAndNothingElseIsAState) {
  std::ofstream(state + "/scores.learned.json") << "{";
  EXPECT_THAT(forget_in_state(state, kAnna).error().text(), HasSubstr("scores.learned.json"));
  std::filesystem::remove(state + "/scores.learned.json");
  EXPECT_EQ(forget_in_state(state, kAnna).value().profiles, 1U);
  EXPECT_THAT(forget_in_state("/tmp/no-such-state", kAnna).error().text(), HasSubstr("no journal"));
  EXPECT_FALSE(std::filesystem::exists("/tmp/no-such-state"));
}

}  // namespace
}  // namespace goban::serve::daemon
