#include "serve/daemon/serve_config.hpp"

#include <gmock/gmock.h>

#include "base/test_names.hpp"
#include "serve/daemon/machine_gpus.hpp"

namespace goban::serve::daemon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ServeConfig, NothingGivenIsFine) {
  const auto config = parse_serve_config("", "goban.toml");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->policy, "goban");
  EXPECT_EQ(config->virtual_gpus, 0);
  EXPECT_TRUE(config->refresh);
  EXPECT_TRUE(config->learn);
}

TEST(ServeConfig, ReadsEveryKey) {
  const auto config = parse_serve_config(R"(
state = "/srv/goban"
policy = "las+pal"
node = "box"
virtual_gpus = 4
virtual_slowness = [1, 1.25]
virtual_devices = ["/dev/full", "/dev/zero", "/dev/random", "/dev/urandom"]
scores = "s.csv"
accounts = "a.toml"
energy = "dgx-v100"
colocation = "c.csv"
sharing = ["everyone=1", "within_account=0"]
store = "postgresql://x"
refresh = "none"
learn = "none"
keep_ended = "2h"
bytes_per_user = "1GiB"
disk_reserve = "2GiB"
disk_reserve_share = 0.25
seed = 7
[[resource_type]]
name = "rt_small"
gpus = 1
cores = 2
max_instances = 4
[service]
socket = "/run/goban.sock"
listen = "127.0.0.1:8080"
operators = ["alice"]
priority_max = {user = -1, account_manager = 5}
)",
                                         "goban.toml");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->state, "/srv/goban");
  EXPECT_THAT(config->virtual_slowness, ElementsAre(1, 1.25));
  EXPECT_THAT(config->virtual_devices,
              ElementsAre("/dev/full", "/dev/zero", "/dev/random", "/dev/urandom"));
  EXPECT_EQ(config->keep_ended_ns, 7200 * base::kSecond);
  EXPECT_EQ(config->bytes_per_user_max, int64_t{1} << 30);
  EXPECT_EQ(config->disk_reserve, (stores::DiskReserve{.bytes = int64_t{2} << 30, .share = 0.25}));
  EXPECT_EQ(config->seed, 7U);
  ASSERT_EQ(config->resource_types.size(), 1U);
  EXPECT_EQ(config->resource_types[0].name, "rt_small");
  EXPECT_EQ(config->resource_types[0].host.cores, 2);
  EXPECT_THAT(config->sharing, ElementsAre("everyone=1", "within_account=0"));
  EXPECT_FALSE(config->refresh);
  EXPECT_FALSE(config->learn);
  EXPECT_EQ(config->service.listen, "127.0.0.1:8080");
  EXPECT_THAT(config->service.callers.operators, ElementsAre("alice"));
  EXPECT_EQ(config->service.callers.priority_max.user, -1);
  EXPECT_EQ(config->service.callers.priority_max.account_manager, 5);
  EXPECT_EQ(config->service.callers.priority_max.an_operator, INT32_MAX);
}

struct Wrong {
  const char* text;
  const char* says;
};
std::ostream& operator<<(std::ostream& out, const Wrong& each) {
  return out << base::test_name(each.text);
}
class ServeConfigErrors : public testing::TestWithParam<Wrong> {};

TEST_P(ServeConfigErrors, NameTheKey) {
  const auto config = parse_serve_config(GetParam().text, "goban.toml");
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().text(), HasSubstr(GetParam().says));
  EXPECT_THAT(config.error().text(), HasSubstr("goban.toml:1"));
}

INSTANTIATE_TEST_SUITE_P(
    All, ServeConfigErrors,
    testing::Values(Wrong{"polcy = 'goban'", "policy"}, Wrong{"virtual_gpus = -1", "virtual_gpus"},
                    Wrong{"virtual_slowness = [2]", "virtual_slowness"},
                    Wrong{"virtual_slowness = [0.5]", "virtual_slowness"},
                    Wrong{"virtual_devices = ['/dev/full']", "virtual_devices"},
                    Wrong{"virtual_devices = ['/dev/full']\nvirtual_gpus = 2", "virtual_devices"},
                    Wrong{"sharing = 'everyone=2'", "sharing"},
                    Wrong{"sharing = ['nobody=1']", "everyone"},
                    Wrong{"resource_type = [{name = 'x'}]", "requests no resources"},
                    Wrong{"resource_type = [{name = 'x', gpu = 1}]", "gpu"},
                    Wrong{"resource_type = [{name = 'cores', gpus = 1}]", "duplicate name 'cores'"},
                    Wrong{"service = {priority_max = {king = 1}}", "king"},
                    Wrong{"service = {liste = 'x'}", "listen"},
                    Wrong{"service = {file_timeout = '0.5s'}", "file_timeout"},
                    Wrong{"refresh = 'always'", "refresh"}, Wrong{"learn = 1", "learn"},
                    Wrong{"engine = 'cloud'", "known engines: local"},
                    Wrong{"local = {nodes = 1}", "local.nodes"}, Wrong{"state = ''", "state"}),
    [](const auto& each) { return base::test_name(each.param.text); });

TEST(ServeConfig, TheRestFollowsFromTheStateFolder) {
  ServeConfig config{.state = "/srv/x/../goban"};
  add_defaults(config);
  EXPECT_EQ(config.state, "/srv/goban");
  EXPECT_EQ(config.store, "/srv/goban/store.sqlite");
  EXPECT_EQ(config.service.socket, "/srv/goban/goban.sock");
}

TEST(ServeConfig, LimitsOfJobs) {
  const auto config = parse_serve_config(
      "time_default = \"1h\"\ntime_max = \"2d\"\nmem_max = \"64GiB\"\n", "goban.toml");
  ASSERT_TRUE(config) << config.error().text();
  const live::controller::JobLimits expected{.time_default_ns = 3600 * base::kSecond,
                                             .time_max_ns = 172'800 * base::kSecond,
                                             .mem_max_bytes = int64_t{64} << 30};
  EXPECT_EQ(config->limits, expected);
  EXPECT_THAT(keys_for_restart(*config, *parse_serve_config("", "goban.toml")),
              ElementsAre("time_default", "time_max", "mem_max"));
  const auto wrong =
      parse_serve_config("mem_default = \"2GiB\"\nmem_max = \"1GiB\"\n", "goban.toml");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().text(), HasSubstr("mem_default"));
}

TEST(ServeConfig, WhatBelongsToAClusterAndWhatToThisMachine) {
  const std::string slurm = "engine = \"slurm\"\n";
  const std::string table = "[slurm]\nmode = \"all\"\n";
  const auto plain = parse_serve_config(slurm + table, "goban.toml");
  ASSERT_TRUE(plain) << plain.error().text();
  EXPECT_EQ(plain->policy, "easy-backfill+pal");
  EXPECT_TRUE(
      parse_serve_config(slurm + "cluster = \"4x4\"\nscores = \"s.csv\"\n" + table, "goban.toml"));
  for (const auto& [text, says] : std::vector<std::pair<std::string, std::string>>{
           {slurm + "virtual_gpus = 4\n" + table, "virtual_gpus: is for jobs on this machine"},
           {slurm + "scores = \"s.csv\"\n" + table, "scores: needs the key cluster"},
           {"cluster = \"4x4\"\n", "cluster: engine \"local\" runs jobs on this machine"}}) {
    const auto wrong = parse_serve_config(text, "goban.toml");
    ASSERT_FALSE(wrong) << text;
    EXPECT_THAT(wrong.error().text(), HasSubstr(says));
  }
}

TEST(VirtualDevices, AreDevicesOfTheirOwn) {
  const auto found = [](std::vector<std::string> devices) {
    ServeConfig config;
    config.virtual_gpus = 2;
    config.virtual_devices = std::move(devices);
    return find_gpus(config);
  };
  EXPECT_TRUE(found({"/dev/full", "/dev/zero"}));
  const auto twice = found({"/dev/zero", "/dev/../dev/zero"});
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().text(), HasSubstr("the device of two virtual GPUs"));
  const auto null = found({"/dev/zero", "/dev/null"});
  ASSERT_FALSE(null);
  EXPECT_THAT(null.error().text(), HasSubstr("'/dev/null' is needed by all jobs"));
}

}  // namespace
}  // namespace goban::serve::daemon
