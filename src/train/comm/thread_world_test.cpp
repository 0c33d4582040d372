#include "train/comm/thread_world.hpp"

#include <gmock/gmock.h>
#include <latch>

#include "train/comm/test_collectives.hpp"

namespace goban::train::comm {
namespace {

using ::testing::HasSubstr;

TEST(ThreadWorld, EveryCollectiveOnWorldsAndSubgroups) {
  for (const int size : {1, 2, 3, 4, 6, 8}) {
    const auto status = run_threads(size, {}, check_collectives);
    EXPECT_TRUE(status) << size << " ranks: " << status.error().text();
  }
}

TEST(ThreadWorld, ANaNWins) {
  const auto status = run_threads(3, {}, check_nan_wins);
  EXPECT_TRUE(status) << status.error().text();
}

TEST(ThreadWorld, DivergingRanksAreNamedWithTheirOperations) {
  const auto status = run_threads(3, {}, [](Communicator& end) -> base::Status {
    const Group all = whole_world(3);
    if (end.rank() == 1) return end.barrier(all, "save");
    std::vector<std::byte> data(8);
    return end.all_reduce(all, data, Element::F64, Reduction::Sum, "loss");
  });
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("ranks diverged"));
  EXPECT_THAT(status.error().message, HasSubstr("all-reduce 'loss'"));
  EXPECT_THAT(status.error().message, HasSubstr("barrier 'save'"));
}

TEST(ThreadWorld, ADifferentSizeIsADivergence) {
  const auto status = run_threads(2, {}, [](Communicator& end) {
    std::vector<std::byte> data(end.rank() == 0 ? 8 : 16);
    return end.all_reduce(whole_world(2), data, Element::F64, Reduction::Sum, "loss");
  });
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("diverged"));
}

TEST(ThreadWorld, AMissingRankIsNamedAfterTheTimeOut) {
  Options options;
  options.timeout_s = 0.2;
  std::latch done(1);
  const auto status = run_threads(3, options, [&](Communicator& end) -> base::Status {
    const Group all = whole_world(3);
    if (auto s = end.barrier(all, "start"); !s) return s;
    if (end.rank() == 2) {
      done.wait();  // blocks until the others have given up
      return {};
    }
    auto s = end.barrier(all, "step1");
    if (end.rank() == 0) done.count_down();
    return s;
  });
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message,
              HasSubstr("rank 2 did not arrive (last seen in barrier 'start'"));
  EXPECT_THAT(status.error().message, HasSubstr("barrier 'step1'"));
}

TEST(ThreadWorld, ARankThatFailsReleasesTheOthers) {
  const auto status = run_threads(2, {}, [](Communicator& end) -> base::Status {
    if (end.rank() == 1) return base::failed("disk full");
    return end.barrier(whole_world(2), "save");
  });
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("disk full"));
}

TEST(Traffic, CountsWhatTheRingWouldSend) {
  const auto status = run_threads(4, {}, [](Communicator& end) -> base::Status {
    const Group all = whole_world(4);
    std::vector<std::byte> data(64), gathered(256);
    if (auto s = end.all_reduce(all, data, Element::F32, Reduction::Sum, "a"); !s) return s;
    if (auto s = end.all_gather(all, data, gathered, "b"); !s) return s;
    const auto& sent = end.traffic().sent_bytes;
    if (sent[size_t(Operation::AllReduce)] != 96) return base::failed("all-reduce bytes");
    if (sent[size_t(Operation::AllGather)] != 192) return base::failed("all-gather bytes");
    return {};
  });
  EXPECT_TRUE(status) << status.error().text();
}

}  // namespace
}  // namespace goban::train::comm
