#include "core/policy/policy_options.hpp"

#include <gmock/gmock.h>
#include <set>
#include <string>

namespace goban::core::policy {
namespace {

using testing::HasSubstr;

TEST(EacoSettings, AreSetByName) {
  EacoOptions options;
  ASSERT_TRUE(set_eaco(options, "max_slowdown=1.25"));
  ASSERT_TRUE(set_eaco(options, "jobs_per_gpu_max=3"));
  ASSERT_TRUE(set_eaco(options, "power_caps=0"));
  ASSERT_TRUE(set_eaco(options, "lost_deadlines_bind=1"));
  ASSERT_TRUE(set_eaco(options, "everyone=0"));
  EXPECT_FALSE(options.rules.everyone);
  EXPECT_FALSE(options.rules.within_account);
  EXPECT_EQ(options.max_slowdown, 1.25);
  EXPECT_EQ(options.jobs_per_gpu_max, 3);
  EXPECT_FALSE(options.power_caps);
  EXPECT_TRUE(options.lost_deadlines_bind);
}

TEST(EacoSettings, RulesOfLiveEngines) {
  EacoOptions options;
  EXPECT_TRUE(options.rules.everyone);
  ASSERT_TRUE(set_eaco(options, "live"));
  EXPECT_FALSE(options.rules.everyone);
  EXPECT_TRUE(options.rules.within_account);
  ASSERT_TRUE(set_eaco(options, "within_account=0"));
  EXPECT_FALSE(options.rules.within_account);
  EXPECT_FALSE(set_eaco(options, "live=1"));
}

TEST(EacoSettings, EachHasItsOwnNameAndTakesItsLeast) {
  std::set<std::string_view> names;
  for (const EacoSetting& setting : eaco_settings()) {
    EXPECT_TRUE(names.insert(setting.name).second);
    EXPECT_FALSE(setting.description.empty());
    EacoOptions options;
    EXPECT_TRUE(set_eaco(options, std::string(setting.name) + "=1")) << setting.name;
    for (const char* bad : {"", "=", "=x", "=nan", "=1e30", "=-7", "=1 "}) {
      const auto status = set_eaco(options, std::string(setting.name) + bad);
      ASSERT_FALSE(status) << setting.name << bad;
      EXPECT_EQ(status.error().code, base::ErrorCode::Usage);
      EXPECT_THAT(status.error().message, HasSubstr(std::string(setting.name)));
    }
  }
}

TEST(EacoSettings, WholeNumbersAndUnknownNames) {
  EacoOptions options;
  EXPECT_FALSE(set_eaco(options, "jobs_per_gpu_max=2.5"));
  EXPECT_FALSE(set_eaco(options, "jobs_per_gpu_max=0"));
  const auto status = set_eaco(options, "max_slow=2");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().remedy, HasSubstr("max_slowdown"));
}

}  // namespace
}  // namespace goban::core::policy
