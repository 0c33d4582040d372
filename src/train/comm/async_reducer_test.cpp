// All-reduces beside the rank's own calls.
#include "train/comm/async_reducer.hpp"

#include <chrono>
#include <gmock/gmock.h>
#include <numeric>
#include <thread>

#include "base/clock.hpp"
#include "train/comm/thread_world.hpp"

namespace goban::train::comm {
namespace {

using ::testing::HasSubstr;

std::span<std::byte> bytes(std::vector<float>& values) {
  return std::as_writable_bytes(std::span(values));
}

TEST(AsyncReducer, SumsWhileTheRankCommunicates) {
  const auto status = run_threads(3, {}, [](Communicator& end) -> base::Status {
    auto reducer = AsyncReducer::start(end);
    if (!reducer) return base::failure(reducer.error());
    const Group world = whole_world(3);
    std::vector<std::vector<float>> values(20, std::vector<float>(1000));
    std::vector<AsyncReducer::Ticket> tickets;
    for (size_t i = 0; i < values.size(); ++i) {
      std::ranges::fill(values[i], static_cast<float>(i) + static_cast<float>(end.rank()));
      tickets.push_back(
          (*reducer)->begin(world, {bytes(values[i]), Element::F32, nullptr}, Reduction::Sum, "v"));
      std::vector<float> own(10, 1);
      if (auto s = end.all_reduce(world, bytes(own), Element::F32, Reduction::Sum, "own"); !s) {
        return s;
      }
      EXPECT_EQ(own[9], 3);
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (auto s = (*reducer)->wait(tickets[i]); !s) return s;
      EXPECT_EQ(values[i][999], 3 * static_cast<float>(i) + 3);
    }
    EXPECT_GT((*reducer)->reducing_s(), 0);
    return {};
  });
  EXPECT_TRUE(status) << status.error().text();
}

TEST(AsyncReducer, TimeUntilALateRankArrivesIsCountedApart) {
  constexpr auto kLate = std::chrono::milliseconds(300);
  constexpr double kLate_s = 0.2, kEarly_s = 0.15;
  Options slow;
  slow.delay_s_per_byte = 1e-6;  // 20 ms a message
  const auto status = run_threads(2, slow, [&](Communicator& end) -> base::Status {
    auto reducer = AsyncReducer::start(end);
    if (!reducer) return base::failure(reducer.error());
    const Group world = whole_world(2);
    std::vector<float> values(5000), own(5000);
    if (end.rank() == 1) std::this_thread::sleep_for(kLate);
    const auto ticket =
        (*reducer)->begin(world, {bytes(values), Element::F32, nullptr}, Reduction::Sum, "late");
    if (auto s = (*reducer)->wait(ticket); !s) return s;
    const double late_s = (*reducer)->late_s(), waited_s = (*reducer)->waited_s();
    EXPECT_GE(waited_s, late_s + 0.015);  // the delay is no lateness
    EXPECT_TRUE(end.rank() == 0 ? late_s >= kLate_s : late_s < kEarly_s) << late_s;
    // A rank that computes meanwhile waits for nobody.
    if (end.rank() == 1) std::this_thread::sleep_for(kLate);
    const auto hidden =
        (*reducer)->begin(world, {bytes(values), Element::F32, nullptr}, Reduction::Sum, "hidden");
    if (end.rank() == 0) std::this_thread::sleep_for(3 * kLate);
    if (auto s = (*reducer)->wait(hidden); !s) return s;
    EXPECT_LT((*reducer)->late_s() - late_s, kEarly_s);
    // The same of the rank's own calls.
    if (end.rank() == 0) std::this_thread::sleep_for(kLate);
    if (auto s = end.all_reduce(world, bytes(own), Element::F32, Reduction::Sum, "own"); !s) {
      return s;
    }
    const double own_late_s = end.traffic().late_s;
    EXPECT_TRUE(end.rank() == 1 ? own_late_s >= kLate_s : own_late_s < kEarly_s) << own_late_s;
    return {};
  });
  EXPECT_TRUE(status) << status.error().text();
}

TEST(AsyncReducer, ALostRankEndsTheWait) {
  const double begin_s = base::steady_s();
  const auto status = run_threads(2, {}, [](Communicator& end) -> base::Status {
    auto reducer = AsyncReducer::start(end);
    if (!reducer) return base::failure(reducer.error());
    if (end.rank() == 1) return base::failed("rank 1 has enough");
    std::vector<float> values(10);
    const auto ticket = (*reducer)->begin(whole_world(2), {bytes(values), Element::F32, nullptr},
                                          Reduction::Sum, "v");
    return (*reducer)->wait(ticket);
  });
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().text(), HasSubstr("rank 1 has enough"));
  EXPECT_LT(base::steady_s() - begin_s, 30);
}

TEST(AsyncReducer, DelaysAreOfTheSizeOfTheMessage) {
  Options slow;
  slow.delay_s_per_byte = 1e-6;
  const auto status = run_threads(2, slow, [](Communicator& end) -> base::Status {
    std::vector<float> values(5000);  // 20 kB: 20 ms
    auto s = end.all_reduce(whole_world(2), bytes(values), Element::F32, Reduction::Sum, "v");
    EXPECT_GE(end.traffic().spent_s, 0.02);
    return s;
  });
  EXPECT_TRUE(status);
}

}  // namespace
}  // namespace goban::train::comm
