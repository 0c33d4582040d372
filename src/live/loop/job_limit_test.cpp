// The maximum number of unfinished jobs per user.
#include <gtest/gtest.h>

#include "live/loop/test_site.hpp"

namespace goban::live::loop {
namespace {

using base::kSecond;

TEST(JobLimit, OneUserHasNotMoreJobsThanTheSiteAllows) {
  controller::Site site = test_site(1, 4, "fifo+packed");
  site.jobs_per_user_max = 3;
  controller::Controller controller(site);
  const auto submission = [](uint32_t uid, size_t count) {
    job::JobSpec spec;
    spec.owner.uid = uid;
    return controller::Submit{.jobs = std::vector<job::JobSpec>(count, spec)};
  };
  const auto apply = [](controller::Controller& to, controller::Input input) {
    to.apply({.at_ns = kSecond, .input = std::move(input)});
  };
  EXPECT_FALSE(controller.check(submission(1, 4)));
  apply(controller, submission(1, 2));
  EXPECT_FALSE(controller.check(submission(1, 2)));
  EXPECT_TRUE(controller.check(submission(1, 1)));
  EXPECT_TRUE(controller.check(submission(2, 3))) << "somebody else";
  controller::Controller restored(site);
  ASSERT_TRUE(restored.restore(controller.snapshot()));
  for (controller::Controller* each : {&controller, &restored}) {
    EXPECT_FALSE(each->check(submission(1, 2)));
    apply(*each, controller::Cancel{.job = JobId(0U), .by = {}});
    EXPECT_TRUE(each->check(submission(1, 2))) << "one is over";
  }
}

}  // namespace
}  // namespace goban::live::loop
