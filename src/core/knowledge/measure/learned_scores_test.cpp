#include "core/knowledge/measure/learned_scores.hpp"

#include <gmock/gmock.h>

#include "base/time.hpp"
#include "core/knowledge/measure/learned_scores_file.hpp"

namespace goban::core::knowledge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kNow_s = 1'700'000'000;

GpuSession session(int64_t unix_s, const char* driver, double time_s) {
  GpuSession out{.unix_s = unix_s, .condition = {.driver = driver}};
  for (auto& blocks : out.block_s) blocks = {time_s};
  return out;
}

/// Three GPUs with times 1, 1 and 1.5 in the measurement log, measured yesterday.
struct Fixture {
  MeasureBook book{};
  std::vector<GpuNow> gpus{
      {"a", {.driver = "550"}}, {"b", {.driver = "550"}}, {"c", {.driver = "550"}}};
  LearnedScores scores{{"a", "b", "c"}, {{1, 1, 1}}};
  Fixture() {
    add_session(book.of("a"), session(kNow_s - 2 * base::kDay_s, "550", 1));
    add_session(book.of("b"), session(kNow_s - 2 * base::kDay_s, "550", 1));
    add_session(book.of("c"), session(kNow_s - 2 * base::kDay_s, "550", 1.5));
  }
  std::vector<size_t> look(int64_t now_s = kNow_s) { return scores.look(book, gpus, now_s); }
  [[nodiscard]] std::vector<double> a() const { return scores.table()[0]; }
  void send(const std::vector<double>& raw, int64_t now_s = kNow_s) {
    scores.counting(scores.table(), {raw}, now_s);
  }
};

TEST(LearnedScores, TheLastWordCounts) {
  Fixture of;
  EXPECT_THAT(of.look(), IsEmpty());
  EXPECT_THAT(of.a(), ElementsAre(1, 1, 1.5));
  of.send({1, 2, 1.5});
  of.look(kNow_s + 1);
  EXPECT_THAT(of.a(), ElementsAre(1, 2, 1.5)) << "sent after the measurement";
  add_session(of.book.of("b"), session(kNow_s + 9, "550", 1.1));
  of.look(kNow_s + 9);
  EXPECT_NEAR(of.a()[1], 1, 1e-12) << "the median GPU";
  EXPECT_NEAR(of.a()[0], 1 / 1.1, 1e-12);
}

TEST(LearnedScores, AnotherDriverMakesThemUnknownUntilSomebodySpeaks) {
  Fixture of;
  of.look();
  of.send({1, 2, 1.5});
  for (GpuNow& gpu : of.gpus) gpu.condition.driver = "560";
  EXPECT_THAT(of.look(), ElementsAre(0, 1, 2));
  EXPECT_THAT(of.a(), ElementsAre(1, 1, 1));
  EXPECT_TRUE(of.scores.facts(kNow_s)[2].expired);
  EXPECT_EQ(of.scores.facts(kNow_s)[2].measured_unix_s, 0);
  EXPECT_THAT(of.look(kNow_s + 60), IsEmpty()) << "told once";
  of.send({1, 1, 1.2}, kNow_s + 61);
  EXPECT_THAT(of.look(kNow_s + 62), IsEmpty());
  EXPECT_EQ(of.a()[2], 1.2);
  EXPECT_FALSE(of.scores.facts(kNow_s)[2].expired);
  EXPECT_TRUE(of.scores.facts(kNow_s)[0].expired);
  add_session(of.book.of("a"), session(kNow_s + 63, "560", 1));
  of.look(kNow_s + 64);
  EXPECT_FALSE(of.scores.facts(kNow_s + 64)[0].expired);
  EXPECT_EQ(of.scores.facts(kNow_s + 64)[0].measured_unix_s, kNow_s + 63);
}

TEST(LearnedScores, AfterAMonthNothingIsKnown) {
  Fixture of;
  of.look();
  EXPECT_THAT(of.look(kNow_s + 28 * base::kDay_s), IsEmpty());
  EXPECT_THAT(of.look(kNow_s + 29 * base::kDay_s), ElementsAre(0, 1, 2));
  EXPECT_THAT(of.a(), ElementsAre(1, 1, 1));
  of.send({1, 1, 2}, kNow_s + 30 * base::kDay_s);
  EXPECT_THAT(of.look(kNow_s + 59 * base::kDay_s), IsEmpty());
  EXPECT_THAT(of.look(kNow_s + 61 * base::kDay_s), ElementsAre(2)) << "nor of what was sent";
  EXPECT_EQ(of.a()[2], 1);
}

TEST(LearnedScores, ScoresThatNobodyMeasuredHereStay) {
  LearnedScores scores({"a"}, {{1.4}});
  const std::vector<GpuNow> gpus{{"a", {.driver = "550"}}};
  EXPECT_THAT(scores.look({}, gpus, kNow_s), IsEmpty());
  EXPECT_THAT(scores.look({}, gpus, kNow_s + 400 * base::kDay_s), IsEmpty());
  EXPECT_EQ(scores.table()[0][0], 1.4);
  EXPECT_THAT(scores.look({}, std::vector<GpuNow>{{"a", {.driver = "560"}}}, kNow_s),
              ElementsAre(0))
      << "but they were of another driver";
}

TEST(LearnedScores, JobsMoveWhatWasNotMeasuredWithinADay) {
  for (const int64_t later_s : {int64_t{600}, 2 * base::kDay_s}) {
    LearnedScores scores({"a", "b", "c", "d"}, {{1, 1, 1, 1}});
    std::vector<GpuNow> gpus;
    MeasureBook book;
    for (const char* uuid : {"a", "b", "c", "d"}) {
      gpus.push_back({uuid, {.driver = "550"}});
      add_session(book.of(uuid), session(kNow_s, "550", 1));
    }
    EXPECT_THAT(scores.look(book, gpus, kNow_s), IsEmpty());
    std::vector<size_t> moved;
    for (uint32_t i = 0; i < 12 && moved.empty(); ++i) {
      moved = scores.observe({.user = i % 4,
                              .app_class = {9},
                              .source = TimeSource::RankCompute,
                              .gpus = {GpuId(0U), GpuId(1U), GpuId(2U), GpuId(3U)},
                              .step_s = {1, 1, 1, 2}},
                             kNow_s + later_s);
    }
    const bool fresh = later_s < base::kDay_s;
    EXPECT_EQ(moved, fresh ? std::vector<size_t>{} : std::vector<size_t>{3});
    EXPECT_EQ(scores.facts(kNow_s + later_s)[3].suspect, fresh);
    EXPECT_THAT(scores.look(book, gpus, kNow_s + later_s + 1), IsEmpty());
    EXPECT_NEAR(scores.table()[0][3], fresh ? 1 : 2, 1e-9) << "their word is newer than the book's";
  }
}

TEST(LearnedScores, AJobIsSeenOnceAndAnImageReadsBack) {
  Fixture of;
  of.look();
  EXPECT_TRUE(of.scores.see({1, 5}));
  EXPECT_FALSE(of.scores.see({1, 5}));
  EXPECT_TRUE(of.scores.see({1, 6})) << "a job of another journal";
  (void)of.scores.observe({.user = 4,
                           .application = 77,
                           .source = TimeSource::RankCompute,
                           .gpus = {GpuId(0U), GpuId(1U), GpuId(2U)},
                           .step_s = {1, 1.1, 2}},
                          kNow_s);
  const LearnedScores::Image image = of.scores.image();
  const auto read = parse_learned_scores(to_json(image), "f");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, image);
  LearnedScores again({"a", "b", "c"}, {{1, 1, 1}});
  again.restore(*read);
  EXPECT_EQ(again.image(), image);
  LearnedScores other({"a", "b", "x"}, {{1, 1, 1}});
  other.restore(*read);
  EXPECT_THAT(other.table()[0], ElementsAre(1, 1, 1)) << "of other GPUs";
  for (uint64_t job = 0; job < 2 * LearnedScores::kSeenMax; ++job) (void)again.see({job, 7});
  EXPECT_EQ(again.image().seen.size(), LearnedScores::kSeenMax);
}

TEST(LearnedScoresFile, WhatIsWrongIsNamed) {
  const auto problem = [](const char* text) {
    const auto read = parse_learned_scores(text, "l.json");
    return read ? std::string() : read.error().text();
  };
  EXPECT_THAT(problem("{"), HasSubstr("l.json"));
  EXPECT_THAT(problem(R"({"version":2})"), HasSubstr("newer release"));
  EXPECT_THAT(problem(R"({"version":1})"), HasSubstr("gpus"));
  EXPECT_THAT(
      problem(R"({"version":1,"gpus":[],"classes":[],"applications":[],"runs":0,"seen":[]})"),
      HasSubstr("no score"));
}

}  // namespace
}  // namespace goban::core::knowledge
