// Nodes that rest under the live scheduler.
#include <gtest/gtest.h>

#include "live/test_site.hpp"

namespace goban::live {
namespace {

Site sleepy_site() {
  Site site = test_site(2, 1, "fifo+packed+sleep");
  add_knowledge(site);
  return site;
}

template <typename Kind>
size_t count(const std::vector<Order>& orders) {
  return static_cast<size_t>(std::ranges::count_if(
      orders, [](const Order& order) { return std::holds_alternative<Kind>(order); }));
}

TEST(Resting, ANodeThatIsClosedInItsSleepIsWokenSoThatItCanBeResumed) {
  Controller controller(sleepy_site());
  TimeNs now = 0;
  size_t rests = 0;
  for (int i = 0; i < 100 && rests < 2; ++i) {
    now = std::max(now + base::kSecond, std::min(controller.wake_ns(), now + 3600 * base::kSecond));
    (void)controller.decide(now);
    rests += count<RestNode>(controller.take_orders());
  }
  ASSERT_EQ(rests, 2U);
  const auto apply = [&](Input input) {
    now += base::kSecond;
    controller.apply({.at_ns = now, .input = std::move(input)});
    (void)controller.decide(now);
    return controller.take_orders();
  };
  EXPECT_EQ(count<WakeNode>(apply(Drain{.node = NodeId(0U), .from_ns = now, .now = false})), 0U);
  EXPECT_EQ(count<WakeNode>(apply(Drain{.node = NodeId(1U), .from_ns = now, .now = true})), 1U);
  apply(Resume{NodeId(1U)});
  const auto orders = apply(Submit{.jobs = {JobSpec{}}});
  EXPECT_EQ(count<LaunchRun>(orders), 1U) << "it is awake";
  EXPECT_EQ(controller.book().find(JobId(0U))->gpus, std::vector<GpuId>{GpuId(1U)});
}

}  // namespace
}  // namespace goban::live
