#include "study/lab/episode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/cluster_presets.hpp"
#include "study/lab/action_log.hpp"
#include "study/lab/test_history.hpp"

namespace goban::study::lab {
namespace {

using testing::ElementsAre;

/// On two GPUs: a job that fills them, one like it, and a short one of one GPU.
const std::vector<Sample> kThree = {{.work_s = 10, .gpus = 2, .limit_s = 20},
                                    {.submit_s = 1, .work_s = 10, .gpus = 2, .limit_s = 20},
                                    {.submit_s = 2, .work_s = 1, .gpus = 1, .limit_s = 5}};

std::unique_ptr<Episode> episode_of(const std::string& cluster, JobHistory history,
                                    size_t slots = 4, const std::string& parts = "fifo+packed") {
  EpisodeOptions options;
  options.parts = parts;
  options.slots = slots;
  options.run.restart_cost_s = 0;
  auto made = Episode::make(std::make_shared<JobHistory>(std::move(history)),
                            *core::model::make_preset(cluster), options);
  EXPECT_TRUE(made && (*made)->begin());
  return std::move(*made);
}

std::vector<int> mask_of(const Episode& episode, size_t slots = 4) {
  std::vector<int8_t> mask(slots + 1);
  episode.observe_mask(mask);
  return {mask.begin(), mask.end()};
}

TEST(Episode, TheShortJobFirst) {
  const auto episode = episode_of("1x2", history_of(kThree));
  ASSERT_TRUE(episode->step(0));
  EXPECT_EQ(episode->now_s(), 10);  // before, no waiting job fitted
  EXPECT_THAT(mask_of(*episode), ElementsAre(1, 1, 0, 0, 0));
  std::vector<float> rows(4 * Episode::kFeatures);
  episode->observe_slots(rows);
  EXPECT_THAT(std::vector(rows.begin(), rows.begin() + 9), ElementsAre(2, 20, 9, 1, 5, 8, 0, 0, 0));
  ASSERT_TRUE(episode->step(1));
  EXPECT_EQ(episode->now_s(), 11);
  ASSERT_TRUE(episode->step(0));
  EXPECT_TRUE(episode->over());
  EXPECT_EQ(episode->job_s(), 10 + 20 + 9);
}

TEST(Episode, InOrderItIsFirstComeFirstServed) {
  std::vector<Sample> samples;
  for (int i = 0; i < 60; ++i) {
    samples.push_back({.submit_s = i * 3, .work_s = 5 + i * 7 % 40, .gpus = 1 + i * 5 % 8});
  }
  const auto episode = episode_of("2x4", history_of(samples));
  int64_t steps = 0;
  for (; !episode->over(); ++steps) ASSERT_TRUE(episode->step(mask_of(*episode)[0] == 1 ? 0 : 4));
  EXPECT_GE(steps, 60);
  const JobHistory history = history_of(samples);
  ActionLog log;
  RunOptions options;
  options.restart_cost_s = 0;
  options.observer = &log;
  const auto result = run(history, *core::model::make_preset("2x4"), "fifo+packed", options);
  ASSERT_TRUE(result);
  double job_s = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    job_s += base::to_seconds(result->outcomes[i].finish_ns) - samples[i].submit_s;
  }
  EXPECT_NEAR(episode->job_s(), job_s, 1e-6);
  // The log of that run: each job starts once, on as many GPUs as it needs, and ends.
  EXPECT_EQ(log.rows().size(), 2 * samples.size());
  EXPECT_EQ(log.offsets().size(), log.rows().size() + 1);
  for (size_t row = 0; row < log.rows().size(); ++row) {
    const bool starts = log.rows()[row].happening == Happening::Start;
    const int gpus = samples[log.rows()[row].job.index()].gpus;
    EXPECT_EQ(log.offsets()[row + 1] - log.offsets()[row], starts ? gpus : 0);
  }
}

TEST(Episode, NewcomersMayGoFirst) {
  std::vector<Sample> samples;
  for (int i = 0; i < 80; ++i) {
    samples.push_back({.submit_s = i * 3, .work_s = 5 + i * 7 % 40, .gpus = 1 + i * 5 % 8});
  }
  JobHistory history = history_of(samples);
  for (size_t i = 0; i < samples.size(); ++i) {
    core::model::Job job = history.jobs[i];
    job.request.priority = static_cast<int32_t>(i * 37 % 11);
    history.jobs.put(i, job);
  }
  const auto episode = episode_of("2x4", history, 4, "priority+packed");
  while (!episode->over()) ASSERT_TRUE(episode->step(mask_of(*episode)[0] == 1 ? 0 : 4));
  RunOptions options;
  options.restart_cost_s = 0;
  const auto result = run(history, *core::model::make_preset("2x4"), "priority+packed", options);
  ASSERT_TRUE(result);
  double job_s = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    job_s += base::to_seconds(result->outcomes[i].finish_ns) - samples[i].submit_s;
  }
  EXPECT_NEAR(episode->job_s(), job_s, 1e-6);
}

TEST(Episode, FreeGpusByNode) {
  const auto episode = episode_of("2x4", history_of({{.work_s = 9, .gpus = 3},
                                                     {.work_s = 5, .gpus = 4},
                                                     {.submit_s = 7, .work_s = 1}}));
  std::vector<float> free(2);
  const auto see = [&] {
    episode->observe_free(free);
    return free;
  };
  EXPECT_THAT(see(), ElementsAre(4, 4));
  ASSERT_TRUE(episode->step(0));
  EXPECT_THAT(see(), testing::UnorderedElementsAre(1, 4));
  ASSERT_TRUE(episode->step(0));
  EXPECT_EQ(episode->now_s(), 7);  // the second job has ended
  EXPECT_THAT(see(), testing::UnorderedElementsAre(1, 4));
}

TEST(Episode, WaitingForEverIsInvalid) {
  const auto episode = episode_of("1x2", history_of({{.work_s = 4}, {.submit_s = 1, .work_s = 4}}));
  EXPECT_THAT(mask_of(*episode), ElementsAre(1, 0, 0, 0, 1));
  ASSERT_TRUE(episode->step(4));  // another job is to come
  EXPECT_EQ(episode->now_s(), 1);
  EXPECT_THAT(mask_of(*episode), ElementsAre(1, 1, 0, 0, 0));
  ASSERT_TRUE(episode->step(4));  // starts the first one
  EXPECT_EQ(episode->now_s(), 1);
  EXPECT_THAT(mask_of(*episode), ElementsAre(1, 0, 0, 0, 1));
  ASSERT_TRUE(episode->step(3));  // an empty slot waits
  EXPECT_EQ(episode->now_s(), 5);
  ASSERT_TRUE(episode->step(0));
  EXPECT_TRUE(episode->over());
  EXPECT_EQ(episode->job_s(), 5 + 8);
}

TEST(Episode, CanBeGivenUp) {
  for (int steps = 0; steps < 3; ++steps) {
    const auto episode = episode_of("1x2", history_of(kThree));
    for (int i = 0; i < steps; ++i) ASSERT_TRUE(episode->step(0));
    EXPECT_FALSE(episode->over());
  }
}

TEST(Episode, PreemptionIsRefused) {
  EpisodeOptions options;
  options.parts = "fifo+sticky";
  EXPECT_FALSE(Episode::make(std::make_shared<JobHistory>(history_of(kThree)),
                             *core::model::make_preset("1x2"), options));
}

}  // namespace
}  // namespace goban::study::lab
