// The site built from a configuration, with the controller that schedules it.
#include "serve/daemon/site.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

namespace goban::serve::daemon {
namespace {

using core::model::SharingRequest;
using testing::HasSubstr;

struct SiteTest : testing::Test {
  SiteTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "goban_site_XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    config.policy = "best-pair";
    config.colocation = folder + "/pairs.csv";
    std::ofstream(config.colocation) << "gpu_type,members,slowdowns\nV100,a,\nV100,b,\n"
                                        "V100,a + b,1.1 + 1.1\n";
  }
  ~SiteTest() override { std::filesystem::remove_all(folder); }

  /// One GPU, a job with the application `a`, then one with `b`: returns the number that run.
  int running(SharingRequest first, SharingRequest second, const std::string& account = "one") {
    auto site = make_site(
        config,
        {{.name = "V100", .mem_bytes = int64_t{16} << 30, .memory_enforced = memory_enforced}});
    EXPECT_TRUE(site) << site.error().text();
    live::controller::Controller controller(std::move(*site));
    const auto submit = [&](const std::string& model, SharingRequest request,
                            const std::string& of) {
      live::job::JobSpec spec{.account = of, .model = model, .num_gpus = 1};
      spec.training.sharing = request;
      const live::controller::TimedInput input{.at_ns = base::kSecond,
                                               .input = live::controller::Submit{{spec}}};
      EXPECT_TRUE(controller.check(input.input));
      controller.apply(input);
      (void)controller.decide(base::kSecond);
    };
    submit("a", first, "one");
    submit("b", second, account);
    const auto orders = controller.take_orders();
    return static_cast<int>(std::ranges::count_if(
        orders, [](const auto& each) { return std::holds_alternative<live::LaunchOrder>(each); }));
  }

  std::string folder;
  ServeConfig config;
  bool memory_enforced = true;
};

TEST_F(SiteTest, NobodySharesWhoDidNotAskForIt) {
  using enum SharingRequest;
  EXPECT_EQ(running(Unsaid, Unsaid), 1);
  EXPECT_EQ(running(Yes, Unsaid), 1);
  EXPECT_EQ(running(Unsaid, Yes), 1);
  EXPECT_EQ(running(Yes, No), 1);
  EXPECT_EQ(running(Yes, Yes), 2);
  EXPECT_EQ(running(Yes, Yes, "another"), 1);
}

TEST_F(SiteTest, GpusWithoutLimitsOfMemoryAreSharedOnlyIfTheConfigurationSaysSo) {
  using enum SharingRequest;
  memory_enforced = false;
  EXPECT_EQ(running(Yes, Yes), 1);
  config.sharing = {"unenforced=1"};
  EXPECT_EQ(running(Yes, Yes), 2);
}

TEST_F(SiteTest, TheConfigurationMayAllowMore) {
  using enum SharingRequest;
  config.sharing = {"within_account=0"};
  EXPECT_EQ(running(Yes, Yes, "another"), 2);
  EXPECT_EQ(running(Yes, Unsaid), 1);
  config.sharing = {"everyone=1"};
  EXPECT_EQ(running(Unsaid, Unsaid), 2);
  EXPECT_EQ(running(Unsaid, No), 1);
  EXPECT_EQ(running(Unsaid, Unsaid, "another"), 1);
}

TEST(SiteOfACluster, IsNotThisMachine) {
  ServeConfig config{.policy = "easy-backfill+pal"};
  config.engine.name = "slurm";
  const auto before = make_site(config, {});
  ASSERT_TRUE(before) << before.error().text();
  EXPECT_EQ(before->cluster.num_gpus(), 1U) << "until the engine says what it sees";
  live::controller::Controller controller(*before);
  const auto refused = controller.check(live::controller::Submit{.jobs = {live::job::JobSpec{}}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("use sbatch"));
  config.cluster = "4x4";
  EXPECT_EQ(make_site(config, {})->cluster.num_gpus(), 16U);
  config.policy = "fifo+sleep";
  const auto sleeps = make_site(config, {});
  ASSERT_FALSE(sleeps);
  EXPECT_THAT(sleeps.error().text(), HasSubstr("engine slurm may not"));
  EXPECT_THAT(sleeps.error().text(),
              HasSubstr("policy = \"fifo\", or permit it by `sleep` in [slurm]"));
  config.policy = "eaco";
  EXPECT_THAT(make_site(config, {}).error().text(),
              HasSubstr("policy = \"priority+by-priority+share-eaco+consolidate\""));
  config.policy = "fifo+sleep";
  config.engine.table = base::parse_config("mode = 'all'\nsleep = 'yes'\n", "goban.toml").value();
  EXPECT_THAT(make_site(config, {}).error().text(), HasSubstr("energy")) << "only that is missing";
}

}  // namespace
}  // namespace goban::serve::daemon
