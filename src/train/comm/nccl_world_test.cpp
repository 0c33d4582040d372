#include "train/comm/nccl_world.hpp"

#include <atomic>
#include <cstdlib>
#include <deque>
#include <gmock/gmock.h>

#include "train/comm/async_reducer.hpp"
#include "train/comm/test_collectives.hpp"
#include "train/comm/thread_world.hpp"

namespace goban::train::comm {
namespace {

using ::testing::HasSubstr;

/// The stand-in of tests/fake_nccl, for both libraries.
const NcclPaths kFake = {GOBAN_FAKE_NCCL, GOBAN_FAKE_NCCL};

/// An environment variable, set during its lifetime.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Setting() { unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
};

base::Status run_on_nccl(int ranks, Options options,
                         const std::function<base::Status(Communicator&)>& body) {
  return run_threads(ranks, options, [&](Communicator& host) -> base::Status {
    auto end = start_nccl(host, host.rank(), kFake);
    if (!end) return base::failure(end.error());
    return body(**end);
  });
}

TEST(NcclWorld, EveryCollectiveOnWorldsAndSubgroups) {
  for (const int ranks : {1, 2, 3, 4, 6}) {
    for (const bool fixed_order : {false, true}) {
      Options options;
      options.fixed_order = fixed_order;
      const auto status = run_on_nccl(ranks, options, check_collectives);
      EXPECT_TRUE(status) << ranks << " ranks: " << status.error().text();
    }
  }
}

/// 1,000 floats in the memory of the stand-in's GPU.
class OnGpu {
 public:
  OnGpu(const CudaFunctions& cuda, float value) : cuda_(cuda) {
    const std::vector<float> values(kCount, value);
    EXPECT_EQ(cuda_.allocate(&data_, sizeof(float) * kCount), 0);
    EXPECT_EQ(cuda_.copy(data_, values.data(), sizeof(float) * kCount, 4), 0);
  }
  ~OnGpu() { cuda_.free(data_); }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;

  std::span<std::byte> bytes() { return {static_cast<std::byte*>(data_), sizeof(float) * kCount}; }
  float last() {
    std::vector<float> values(kCount);
    EXPECT_EQ(cuda_.copy(values.data(), data_, sizeof(float) * kCount, 4), 0);
    return values.back();
  }

 private:
  static constexpr size_t kCount = 1000;
  const CudaFunctions& cuda_;
  void* data_ = nullptr;
};

TEST(NcclWorld, ACompanionSumsGpuMemoryWhileTheRankCommunicates) {
  const auto library = NcclLibrary::load(kFake);
  ASSERT_TRUE(library);
  const auto status = run_on_nccl(3, {}, [&](Communicator& end) -> base::Status {
    auto reducer = AsyncReducer::start(end);
    if (!reducer) return base::failure(reducer.error());
    std::deque<OnGpu> values;
    std::vector<AsyncReducer::Ticket> tickets;
    std::atomic<int> waited = 0;
    for (int i = 0; i < 20; ++i) {
      OnGpu& mine = values.emplace_back((*library)->cuda, static_cast<float>(i + end.rank()));
      tickets.push_back((*reducer)->begin(whole_world(3),
                                          {mine.bytes(), Element::F32, {}, [&waited] { ++waited; }},
                                          Reduction::Sum, "v"));
      std::vector<float> own(10, 1);
      if (auto s = end.all_reduce(whole_world(3), std::as_writable_bytes(std::span(own)),
                                  Element::F32, Reduction::Sum, "own");
          !s) {
        return s;
      }
      EXPECT_EQ(own[9], 3);
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (auto s = (*reducer)->wait(tickets[i]); !s) return s;
      EXPECT_EQ(values[i].last(), 3 * static_cast<float>(i) + 3);
    }
    EXPECT_EQ(waited, 20);
    return {};
  });
  EXPECT_TRUE(status) << status.error().text();
}

TEST(NcclWorld, CountsBytesAsTheOthersDo) {
  const auto status = run_on_nccl(2, {}, [](Communicator& end) -> base::Status {
    std::vector<std::byte> data(400);
    auto s = end.all_reduce(whole_world(2), data, Element::F32, Reduction::Sum, "x");
    EXPECT_EQ(end.traffic().total_bytes(), 400);
    return s;
  });
  EXPECT_TRUE(status) << status.error().text();
}

TEST(NcclWorld, DivergingRanksAreNamedWithTheirOperations) {
  const auto status = run_on_nccl(3, {}, [](Communicator& end) {
    std::vector<std::byte> data(8);
    const Reduction how = end.rank() == 1 ? Reduction::Max : Reduction::Sum;
    const char* what = end.rank() == 1 ? "clip" : "loss";
    return end.all_reduce(whole_world(3), data, Element::F64, how, what);
  });
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("ranks diverged"));
  EXPECT_THAT(status.error().message, HasSubstr("all-reduce 'loss'"));
  EXPECT_THAT(status.error().message, HasSubstr("all-reduce 'clip'"));
}

TEST(NcclWorld, ACollectiveThatNeverEndsIsNamed) {
  const Setting stall("GOBAN_FAKE_NCCL_STALL", "1");
  Options options;
  options.timeout_s = 0.1;
  const auto status = run_on_nccl(2, options, [](Communicator& end) {
    std::vector<std::byte> data(8);
    return end.all_reduce(whole_world(2), data, Element::F64, Reduction::Sum, "loss");
  });
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("in all-reduce 'loss'"));
  EXPECT_THAT(status.error().message, HasSubstr("after all its peers had arrived"));
}

TEST(NcclWorld, ARankWithoutAGpuEndsAllWithTheReason) {
  const Setting one("GOBAN_FAKE_GPUS", "1");
  const auto status = run_on_nccl(2, {}, check_collectives);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().text(), ::testing::AnyOf(HasSubstr("sees 1 GPUs"),
                                                      HasSubstr("cannot start on another rank")));
}

TEST(NcclLibrary, WhatIsMissingIsNamedWithTheRemedy) {
  const auto missing = NcclLibrary::load({GOBAN_FAKE_NCCL, "/nonexistent/libcudart.so"});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().text(), HasSubstr("the CUDA runtime cannot be loaded"));
  EXPECT_THAT(missing.error().text(), HasSubstr("/nonexistent/libcudart.so"));
  EXPECT_THAT(missing.error().text(), HasSubstr("GOBAN_CUDART"));
  const auto other = NcclLibrary::load({"libz.so.1", GOBAN_FAKE_NCCL});
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().text(), HasSubstr("NCCL has no function 'ncclGetVersion'"));
  EXPECT_EQ((*NcclLibrary::load(kFake))->version(), "2.30.7");
}

}  // namespace
}  // namespace goban::train::comm
