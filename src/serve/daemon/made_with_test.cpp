#include "serve/daemon/made_with.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

#include "serve/api/test_scheduler_client.hpp"

namespace goban::serve::daemon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

live::controller::Site site() {
  live::controller::Site out;
  out.cluster = api::test_cluster();
  out.scores = core::knowledge::PmScores::uniform(out.cluster.num_gpus());
  out.composition = core::policy::compose("fifo+packed").value();
  return out;
}

TEST(MadeWith, WhatDiffersIsNamed) {
  ServeConfig config;
  config.policy = "fifo+packed";
  const auto then = made_with(config, site());
  ASSERT_TRUE(then);
  EXPECT_THAT(differences(*then, *then), IsEmpty());
  EXPECT_THAT(differences({}, *then), IsEmpty()) << "release 0.1 did not record it";
  config.policy = "las+pal";
  live::controller::Site other = site();
  other.composition = core::policy::compose("las+pal").value();
  other.seed = 7;
  const auto now = made_with(config, other);
  ASSERT_TRUE(now);
  EXPECT_THAT(differences(*then, *now),
              ElementsAre(HasSubstr("parts: fifo+"), "policy: fifo+packed then, las+pal now",
                          "seed: 1 then, 7 now"));
}

TEST(MadeWith, TheRulesOfStagingAreThoseOfTheRecords) {
  live::controller::Site before = site();
  before.staging.fast =
      core::model::StorageTier{.name = "nvme", .path = "/fast", .size_bytes = 1000};
  before.staging.retry_ns = base::kSecond;
  before.staging.retry_max_ns = 5 * base::kSecond;
  before.staging.others = live::job::Owner{.uid = 77, .gid = 7, .user = "stage", .realm = {}};
  live::controller::StagingRules now;
  now.fast = core::model::StorageTier{.name = "other", .path = "/new", .size_bytes = 9};
  const live::journal::InputFacts facts = made_with({}, before).value();
  const std::vector<live::journal::MadeWith> made = {{.from = 0, .facts = facts},
                                                     {.from = 12, .facts = {}}};
  const auto then = recorded_staging(made, 12, now);
  EXPECT_EQ(then.fast->size_bytes, 1000);
  EXPECT_EQ(then.fast->path, "/fast");
  EXPECT_EQ(then.retry_ns, base::kSecond);
  EXPECT_EQ(then.retry_max_ns, 5 * base::kSecond);
  ASSERT_TRUE(then.others);
  EXPECT_EQ(then.others->uid, 77U);
  EXPECT_EQ(then.others->gid, 7U);
  EXPECT_EQ(then.others->user, "stage");
  EXPECT_TRUE(other_staging(made, 12, now));
  EXPECT_FALSE(other_staging(made, 12, before.staging));
  EXPECT_FALSE(recorded_staging(made, 13, now).fast) << "the second daemon had no tier";
}

TEST(MadeWith, GpusAreNamedSoThatAReplayNeedsNoDriver) {
  const live::controller::Site made = site();
  const core::model::GpuModel& model = made.cluster.gpu_models().front();
  const auto gpus = recorded_gpus(made_with({}, made).value());
  ASSERT_EQ(gpus.size(), made.cluster.num_gpus());
  EXPECT_EQ(gpus.front().name, model.name);
  EXPECT_EQ(gpus.front().mem_bytes, model.mem_bytes);
  EXPECT_EQ(gpus.front().memory_enforced, model.memory_enforced);
  EXPECT_THAT(recorded_gpus({{"gpus", "4"}}), IsEmpty()) << "an older release";
  EXPECT_THAT(recorded_gpus({{"gpus", "-4"}, {"gpu_mem_bytes", "1"}}), IsEmpty());
}

TEST(MadeWith, FilesAndTablesCountByWhatIsInThem) {
  std::string path = "/tmp/goban_made_with_XXXXXX";
  ASSERT_GE(::mkstemp(path.data()), 0);
  ServeConfig config;
  config.accounts = path;
  config.energy = "dgx-v100";
  const auto write = [&](const char* text) { std::ofstream(path) << text; };
  write("a");
  const auto one = made_with(config, site()).value();
  EXPECT_EQ(one.at("energy"), "dgx-v100");
  write("b");
  EXPECT_THAT(differences(one, made_with(config, site()).value()),
              ElementsAre(HasSubstr("accounts: ")));
  write("a");
  live::controller::Site measured = site();
  std::vector<double> slower(measured.cluster.num_gpus(), 1.0);
  slower[3] = 1.5;
  measured.scores = core::knowledge::PmScores(
      {core::knowledge::ClassScores{.raw = slower,
                                    .bin = std::vector<uint8_t>(slower.size(), 0),
                                    .bin_values = {1.0},
                                    .bins_by_appearance = {0}}});
  EXPECT_THAT(differences(one, made_with(config, measured).value()),
              ElementsAre(HasSubstr("scores: ")));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace goban::serve::daemon
