#include "core/knowledge/measure/findings.hpp"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <numbers>

#include "base/random.hpp"

namespace goban::core::knowledge {
namespace {

using testing::HasSubstr;

struct Bench {
  base::Random random{5};
  double scatter = 0.01;
  double normal() {
    const double u = 1 - random.uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * random.uniform());
  }
  GpuSession session(double time_s, size_t blocks, int64_t unix_s = 0) {
    GpuSession out{.unix_s = unix_s};
    for (auto& kernel : out.block_s) {
      for (size_t b = 0; b < blocks; ++b) kernel.push_back(time_s * std::exp(scatter * normal()));
    }
    return out;
  }
};

std::vector<GpuNow> present(const MeasureBook& book) {
  std::vector<GpuNow> out;
  for (const GpuBook& gpu : book.gpus) out.push_back({.uuid = gpu.uuid});
  return out;
}

TEST(Findings, WrongStragglersAreAsRareAsStated) {
  Bench bench;
  bench.scatter = 0.03;
  int machines_with_one = 0;
  constexpr int kMachines = 3000;
  for (int i = 0; i < kMachines; ++i) {
    MeasureBook book;
    for (int gpu = 0; gpu < 8; ++gpu) {
      // One is slower, but below kStragglerScore.
      add_session(book.of(fmt::format("G{}", gpu)), bench.session(gpu == 3 ? 1.04 : 1, 16));
    }
    const auto scores = scores_of(book, present(book));
    bool any = false;
    for (const GpuScores& gpu : scores.gpus) {
      for (const KernelScore& kernel : gpu.kernels) any = any || kernel.straggler;
    }
    machines_with_one += any ? 1 : 0;
  }
  EXPECT_LE(machines_with_one, kMachines * kStragglerErrors);
}

TEST(Findings, AStragglerIsNamedAtOnce) {
  Bench bench;
  for (int i = 0; i < 200; ++i) {
    MeasureBook book;
    for (int gpu = 0; gpu < 4; ++gpu) {
      add_session(book.of(fmt::format("G{}", gpu)), bench.session(gpu == 2 ? 1.2 : 1, 16));
    }
    const auto scores = scores_of(book, present(book));
    for (size_t gpu = 0; gpu < 4; ++gpu) {
      EXPECT_EQ(scores.gpus[gpu].kernels[0].straggler, gpu == 2);
    }
    EXPECT_NEAR(scores.gpus[2].kernels[1].score, 1.2, 0.03);
    EXPECT_LT(*scores.gpus[2].kernels[1].low, scores.gpus[2].kernels[1].score);
  }
}

TEST(Findings, FewBlocksNameNobody) {
  Bench bench;
  MeasureBook book;
  for (int gpu = 0; gpu < 4; ++gpu) {
    add_session(book.of(fmt::format("G{}", gpu)), bench.session(gpu == 2 ? 2 : 1, 4));
  }
  const auto scores = scores_of(book, present(book));
  EXPECT_FALSE(scores.gpus[2].kernels[0].straggler);
  EXPECT_FALSE(scores.gpus[2].kernels[0].low);
  EXPECT_NEAR(scores.gpus[2].kernels[0].score, 2, 0.1);
}

TEST(Findings, AChangedDriverExpires) {
  Bench bench;
  MeasureBook book;
  GpuSession old = bench.session(2, 8);
  old.condition.driver = "550";
  GpuSession fresh = bench.session(1, 8);
  fresh.condition.driver = "560";
  add_session(book.of("a"), old);
  add_session(book.of("a"), old);
  add_session(book.of("b"), old);
  add_session(book.of("b"), fresh);
  const GpuCondition now{.driver = "560"};
  const auto scores = scores_of(book, std::vector<GpuNow>{{"a", now}, {"b", now}, {"c", now}});
  EXPECT_TRUE(scores.gpus[0].expired);
  EXPECT_EQ(scores.gpus[0].expired_sessions, 2u);
  EXPECT_EQ(scores.gpus[0].kernels[0].score, 1);
  EXPECT_FALSE(scores.gpus[1].expired);
  EXPECT_EQ(scores.gpus[1].sessions, 1u);
  EXPECT_TRUE(scores.gpus[2].expired);
  // Returning to the old driver does not restore the old scores.
  add_session(book.of("a"), fresh);
  const auto back = scores_of(book, std::vector<GpuNow>{{"a", {.driver = "550"}}});
  EXPECT_TRUE(back.gpus[0].expired);
}

TEST(Findings, DriftIsFoundAndForgiven) {
  Bench bench;
  MeasureBook book;
  const auto measure = [&](double time_s, int64_t day) {
    for (int gpu = 0; gpu < 4; ++gpu) {
      add_session(book.of(fmt::format("G{}", gpu)), bench.session(gpu == 1 ? time_s : 1, 8, day));
    }
    return scores_of(book, present(book));
  };
  for (int day = 0; day < 8; ++day) EXPECT_FALSE(measure(1, day).gpus[1].kernels[0].change);
  EXPECT_NEAR(measure(1.15, 8).gpus[1].kernels[0].against_last, 1.15, 0.05);
  const auto found = measure(1.15, 9).gpus[1].kernels[0];
  ASSERT_TRUE(found.change);
  EXPECT_TRUE(found.change_is_new);
  EXPECT_EQ(found.changed_unix_s, 8);
  for (int day = 10; day < 14; ++day)
    EXPECT_FALSE(measure(1.15, day).gpus[1].kernels[0].change_is_new);
  EXPECT_TRUE(measure(1, 14).gpus[1].kernels[0].score < 1.03);
  const auto forgiven = measure(1, 15).gpus[1].kernels[0];
  ASSERT_TRUE(forgiven.change);
  EXPECT_LT(forgiven.change->log_ratio, -0.1);
  EXPECT_EQ(forgiven.changed_unix_s, 14);
}

TEST(MeasureBook, ReadsBackAndForgetsTheOldest) {
  Bench bench;
  MeasureBook book{.since_unix_s = 5, .spent_s = 2.5};
  book.of("a").name = "NVIDIA H200";
  for (int i = 0; i < 70; ++i) add_session(book.of("a"), bench.session(1, 2, i));
  EXPECT_EQ(book.of("a").sessions.size(), MeasureBook::kSessionsMax);
  EXPECT_EQ(book.of("a").sessions.front().unix_s, 6);
  const auto again = parse_book(to_json(book), "f");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(to_json(*again), to_json(book));
  EXPECT_EQ(book_path("x/scores.csv"), "x/scores.profile.json");
}

TEST(MeasureBook, WhatIsWrongIsNamed) {
  const auto error_of = [](const char* json) { return parse_book(json, "f.json").error().text(); };
  EXPECT_THAT(error_of("{"), HasSubstr("f.json: is not a valid JSON document"));
  EXPECT_THAT(error_of("{}"), HasSubstr("version: is missing"));
  EXPECT_THAT(error_of(R"({"version": 2, "since_unix_s": 0})"), HasSubstr("newer release"));
  EXPECT_THAT(error_of(R"({"version":1,"since_unix_s":0,"spent_s":0,"gpus":[{"uuid":"a","name":"",
    "sessions":[{"unix_s":1,"driver":"","firmware":"","kernel_version":1,"temperature_c":-1,
    "neighbours":0,"forced":false,"block_s":{"compute":[0]}}]}]})"),
              HasSubstr("gpus[0].sessions[0].block_s.compute"));
}

}  // namespace
}  // namespace goban::core::knowledge
