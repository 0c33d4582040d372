// How many jobs that are not over one user may have.
#include <gtest/gtest.h>

#include "live/test_site.hpp"

namespace goban::live {
namespace {

using base::kSecond;

TEST(JobLimit, OneUserHasNotMoreJobsThanTheSiteAllows) {
  Site site = test_site(1, 4, "fifo+packed");
  site.jobs_per_user_max = 3;
  Controller controller(site);
  const auto submission = [](uint32_t uid, size_t count) {
    JobSpec spec;
    spec.owner.uid = uid;
    return Submit{.jobs = std::vector<JobSpec>(count, spec)};
  };
  const auto apply = [](Controller& to, Input input) {
    to.apply({.at_ns = kSecond, .input = std::move(input)});
  };
  EXPECT_FALSE(controller.check(submission(1, 4)));
  apply(controller, submission(1, 2));
  EXPECT_FALSE(controller.check(submission(1, 2)));
  EXPECT_TRUE(controller.check(submission(1, 1)));
  EXPECT_TRUE(controller.check(submission(2, 3))) << "somebody else";
  Controller restored(site);
  ASSERT_TRUE(restored.restore(controller.snapshot()));
  for (Controller* each : {&controller, &restored}) {
    EXPECT_FALSE(each->check(submission(1, 2)));
    apply(*each, Cancel{.job = JobId(0U), .by = {}});
    EXPECT_TRUE(each->check(submission(1, 2))) << "one is over";
  }
}

}  // namespace
}  // namespace goban::live
