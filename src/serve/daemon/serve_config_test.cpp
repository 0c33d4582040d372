#include "serve/daemon/serve_config.hpp"

#include <gmock/gmock.h>

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
scores = "s.csv"
accounts = "a.toml"
energy = "dgx-v100"
colocation = "c.csv"
sharing = ["everyone=1", "within_account=0"]
store = "postgresql://x"
refresh = "none"
learn = "none"
keep_ended = "2h"
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
  EXPECT_EQ(config->keep_ended_ns, 7200 * base::kSecond);
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
                    Wrong{"sharing = 'everyone=2'", "sharing"},
                    Wrong{"sharing = ['nobody=1']", "everyone"},
                    Wrong{"resource_type = [{name = 'x'}]", "requests no resources"},
                    Wrong{"resource_type = [{name = 'x', gpu = 1}]", "gpu"},
                    Wrong{"resource_type = [{name = 'cores', gpus = 1}]", "duplicate name 'cores'"},
                    Wrong{"service = {priority_max = {king = 1}}", "king"},
                    Wrong{"service = {liste = 'x'}", "listen"},
                    Wrong{"refresh = 'always'", "refresh"}, Wrong{"learn = 1", "learn"},
                    Wrong{"state = ''", "state"}));

TEST(ServeConfig, TheRestFollowsFromTheStateFolder) {
  ServeConfig config{.state = "/srv/x/../goban"};
  add_defaults(config);
  EXPECT_EQ(config.state, "/srv/goban");
  EXPECT_EQ(config.store, "/srv/goban/store.sqlite");
  EXPECT_EQ(config.service.socket, "/srv/goban/goban.sock");
}

}  // namespace
}  // namespace goban::serve::daemon
