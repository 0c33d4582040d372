// A rank that gives up while others move data must not free buffers that a peer still reads.
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <thread>
#include <vector>

#include "train/comm/thread_world.hpp"

namespace goban::train::comm {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr size_t kBytes = size_t{1} << 16;

/// Memory whose first writer is blocked until a condition holds.
std::byte* held = nullptr;
std::atomic<bool> writing = false, released = false, left_early = false;

void hold_writer(int signal, siginfo_t* info, void*) {
  const auto* at = static_cast<const std::byte*>(info->si_addr);
  if (at < held || at >= held + 2 * kBytes) {  // an unrelated fault: let it end the program
    std::signal(signal, SIG_DFL);
    return;
  }
  writing = true;
  // A peer that leaves too early does so immediately; one that must not leave has this long to do
  // so.
  for (int i = 0; i < 300 && !left_early; ++i) {
    const timespec moment{0, 1'000'000};
    nanosleep(&moment, nullptr);
  }
  released = true;
  mprotect(held, 2 * kBytes, PROT_READ | PROT_WRITE);
}

TEST(ThreadWorldAbandoned, AMemberStaysUntilItsPeersHaveReadItsBuffer) {
  writing = released = left_early = false;
  held = static_cast<std::byte*>(
      mmap(nullptr, 2 * kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(held, MAP_FAILED);
  struct sigaction action{}, before{};
  action.sa_sigaction = hold_writer;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
  const Group pair{{0, 1}};
  const auto status = run_threads(3, {}, [&](Communicator& end) -> base::Status {
    if (end.rank() == 2) {
      while (!writing) std::this_thread::sleep_for(1ms);
      return base::failed("the loss is nan");
    }
    const std::vector<std::byte> mine(kBytes, static_cast<std::byte>(end.rank() + 1));
    std::vector<std::byte> own(2 * kBytes);
    const std::span<std::byte> all = end.rank() == 0 ? std::span(held, 2 * kBytes) : std::span(own);
    if (auto s = end.all_gather(pair, mine, all, "gather"); !s) {
      left_early = !released;
      return s;
    }
    if (end.rank() == 1 && !released) left_early = true;
    return end.barrier(whole_world(3), "step");
  });
  sigaction(SIGSEGV, &before, nullptr);
  EXPECT_TRUE(released);
  EXPECT_FALSE(left_early);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "the loss is nan");
  EXPECT_EQ(held[kBytes], std::byte{2});
  munmap(held, 2 * kBytes);
}

TEST(ThreadWorldAbandoned, WhoComesAfterTheEndFindsNobody) {
  // Rank 1 arrives at the call after rank 0, which waited in it, has left with its buffer.
  std::atomic<bool> left = false;
  std::array<std::string, 2> told;
  const auto status = run_threads(3, {}, [&](Communicator& end) -> base::Status {
    if (end.rank() == 2) return base::failed("the disk is full");
    if (end.rank() == 1) {
      while (!left) std::this_thread::sleep_for(1ms);
    }
    const std::vector<std::byte> mine(8, std::byte{1});
    std::vector<std::byte> all(16);
    const auto s = end.all_gather({{0, 1}}, mine, all, "gather");
    told.at(static_cast<size_t>(end.rank())) = s ? "done" : s.error().message;
    EXPECT_THAT(all, ::testing::Each(std::byte{0}));  // no data of the rank that left were read
    left = true;
    return s;
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "the disk is full");
  EXPECT_THAT(told, ::testing::Each(HasSubstr("rank 2 gave up: the disk is full")));
}

}  // namespace
}  // namespace goban::train::comm
