// Sleeping nodes under the live scheduler.
#include <gtest/gtest.h>

#include "live/loop/test_site.hpp"

namespace goban::live::loop {
namespace {

controller::Site sleepy_site() {
  controller::Site site = test_site(2, 1, "fifo+packed+sleep");
  add_knowledge(site);
  return site;
}

template <typename Kind>
size_t count(const std::vector<controller::Order>& orders) {
  return static_cast<size_t>(std::ranges::count_if(
      orders, [](const controller::Order& order) { return std::holds_alternative<Kind>(order); }));
}

TEST(Resting, ANodeThatIsClosedInItsSleepIsWokenSoThatItCanBeResumed) {
  controller::Controller controller(sleepy_site());
  TimeNs now = 0;
  size_t rests = 0;
  for (int i = 0; i < 100 && rests < 2; ++i) {
    now = std::max(now + base::kSecond, std::min(controller.wake_ns(), now + 3600 * base::kSecond));
    (void)controller.decide(now);
    rests += count<controller::RestNode>(controller.take_orders());
  }
  ASSERT_EQ(rests, 2U);
  const auto apply = [&](controller::Input input) {
    now += base::kSecond;
    controller.apply({.at_ns = now, .input = std::move(input)});
    (void)controller.decide(now);
    return controller.take_orders();
  };
  EXPECT_EQ(count<controller::WakeNode>(
                apply(controller::Drain{.node = NodeId(0U), .from_ns = now, .now = false})),
            0U);
  EXPECT_EQ(count<controller::WakeNode>(
                apply(controller::Drain{.node = NodeId(1U), .from_ns = now, .now = true})),
            1U);
  apply(controller::Resume{NodeId(1U)});
  const auto orders = apply(controller::Submit{.jobs = {job::JobSpec{}}});
  EXPECT_EQ(count<LaunchOrder>(orders), 1U) << "it is awake";
  EXPECT_EQ(controller.book().find(JobId(0U))->gpus, std::vector<GpuId>{GpuId(1U)});
}

}  // namespace
}  // namespace goban::live::loop
