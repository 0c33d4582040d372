#include "core/policy/policy_options.hpp"

#include <gmock/gmock.h>
#include <set>
#include <string>

namespace goban::core::policy {
namespace {

using testing::HasSubstr;

TEST(PolicyOptions, AreSetByName) {
  PolicyOptions options;
  ASSERT_TRUE(set_option(options, "max_slowdown=1.25"));
  ASSERT_TRUE(set_option(options, "jobs_per_gpu_max=3"));
  ASSERT_TRUE(set_option(options, "power_caps=0"));
  ASSERT_TRUE(set_option(options, "lost_deadlines_bind=1"));
  ASSERT_TRUE(set_option(options, "everyone=0"));
  EXPECT_FALSE(options.rules.everyone);
  EXPECT_FALSE(options.rules.within_account);
  EXPECT_EQ(options.limits.max_slowdown, 1.25);
  EXPECT_EQ(options.limits.jobs_per_gpu_max, 3);
  EXPECT_FALSE(options.prices.power_caps);
  EXPECT_TRUE(options.limits.lost_deadlines_bind);
}

TEST(PolicyOptions, RulesOfLiveEngines) {
  PolicyOptions options;
  EXPECT_TRUE(options.rules.everyone);
  ASSERT_TRUE(set_option(options, "live"));
  EXPECT_FALSE(options.rules.everyone);
  EXPECT_TRUE(options.rules.within_account);
  ASSERT_TRUE(set_option(options, "within_account=0"));
  EXPECT_FALSE(options.rules.within_account);
  EXPECT_FALSE(set_option(options, "live=1"));
}

TEST(PolicyOptions, EachHasItsOwnNameAndTakesItsLeast) {
  std::set<std::string_view> names;
  for (const OptionInfo& setting : known_options()) {
    EXPECT_TRUE(names.insert(setting.name).second);
    EXPECT_FALSE(setting.description.empty());
    PolicyOptions options;
    EXPECT_TRUE(set_option(options, std::string(setting.name) + "=1")) << setting.name;
    for (const char* bad : {"", "=", "=x", "=nan", "=1e30", "=-7", "=1 "}) {
      const auto status = set_option(options, std::string(setting.name) + bad);
      ASSERT_FALSE(status) << setting.name << bad;
      EXPECT_EQ(status.error().code, base::ErrorCode::Usage);
      EXPECT_THAT(status.error().message, HasSubstr(std::string(setting.name)));
    }
  }
}

TEST(PolicyOptions, WholeNumbersAndUnknownNames) {
  PolicyOptions options;
  EXPECT_FALSE(set_option(options, "jobs_per_gpu_max=2.5"));
  EXPECT_FALSE(set_option(options, "jobs_per_gpu_max=0"));
  const auto status = set_option(options, "max_slow=2");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().remedy, HasSubstr("max_slowdown"));
}

}  // namespace
}  // namespace goban::core::policy
