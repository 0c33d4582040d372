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

TEST(JobLimit, AStoppingJobHoldsItsGpusNoLongerThanTheSiteAllows) {
  controller::Site site = test_site(1, 4, "fifo+packed");
  const auto check = [&](TimeNs lead_ns, TimeNs grace_ns) {
    const job::JobSpec spec{.stop = {.signal = 10, .lead_ns = lead_ns, .grace_ns = grace_ns}};
    return controller::Controller(site).check(controller::Submit{.jobs = {spec}});
  };
  constexpr TimeNs kMinute = 60 * kSecond;
  EXPECT_TRUE(check(5 * kMinute, 5 * kMinute));
  const auto grace = check(0, 365 * 1440 * kMinute);
  ASSERT_FALSE(grace);
  EXPECT_EQ(grace.error().place.field, "stop.grace_s");
  EXPECT_NE(grace.error().text().find("at most 300 s"), std::string::npos);
  const auto lead = check(6 * kMinute, 0);
  ASSERT_FALSE(lead);
  EXPECT_EQ(lead.error().place.field, "stop.lead_s");
  EXPECT_NE(lead.error().text().find("lead_max"), std::string::npos);
  site.lead_max_ns = 10 * kMinute;
  EXPECT_TRUE(check(6 * kMinute, 0));
}

TEST(JobLimit, ASignalComesAfterTheStart) {
  const controller::Site site = test_site(1, 4, "fifo+packed");
  controller::Controller controller(site);
  const auto job = [](TimeNs limit_ns) {
    return controller::Submit{
        .jobs = {{.walltime_limit_ns = limit_ns, .stop = {.signal = 10, .lead_ns = 60 * kSecond}}}};
  };
  EXPECT_TRUE(controller.check(job(0)));
  EXPECT_TRUE(controller.check(job(61 * kSecond)));
  const auto refused = controller.check(job(60 * kSecond));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().place.field, "stop.lead_s");
  EXPECT_NE(refused.error().text().find("60 s before a walltime limit of 60 s"), std::string::npos);

  controller::Submit held = job(120 * kSecond);
  held.jobs.front().held = true;
  controller.apply({.at_ns = kSecond, .input = held});
  const auto alter = [&](TimeNs limit_ns) {
    return controller.check(controller::Alter{
        .job = JobId(0U), .by = {.is_operator = true}, .walltime_limit_ns = limit_ns});
  };
  EXPECT_TRUE(alter(90 * kSecond));
  EXPECT_FALSE(alter(30 * kSecond));
}

TEST(JobLimit, AJobRunsNoLongerThanTheSiteAllows) {
  constexpr TimeNs kHour = 3600 * kSecond;
  controller::Site site = test_site(1, 4, "fifo+packed");
  const auto check = [&](TimeNs limit_ns) {
    const job::JobSpec spec{.walltime_limit_ns = limit_ns};
    return controller::Controller(site).check(controller::Submit{.jobs = {spec}});
  };
  EXPECT_TRUE(check(0));
  site.limits.time_max_ns = kHour;
  EXPECT_TRUE(check(kHour));
  for (const TimeNs limit_ns : {TimeNs{0}, 2 * kHour}) {
    const auto refused = check(limit_ns);
    ASSERT_FALSE(refused) << limit_ns;
    EXPECT_EQ(refused.error().place.field, "walltime_s");
    EXPECT_NE(refused.error().text().find("at most 3600 s"), std::string::npos);
  }
  EXPECT_NE(check(2 * kHour).error().text().find("requests 7200 s"), std::string::npos);
}

}  // namespace
}  // namespace goban::live::loop
