// Files that hang are tasks that wait for the test.
#include "serve/api/file_work.hpp"

#include <atomic>
#include <fcntl.h>
#include <future>
#include <gmock/gmock.h>
#include <new>
#include <thread>
#include <unistd.h>
#include <vector>

#include "base/clock.hpp"

namespace goban::serve::api {
namespace {

using base::kSecond;
using testing::HasSubstr;

/// A file system that answers when the test ends, or when it is told to.
struct HangingFiles {
  std::promise<void> answers{};
  std::shared_future<void> answer = answers.get_future().share();
  bool answered = false;
  ~HangingFiles() { answer_now(); }
  void answer_now() {
    if (!std::exchange(answered, true)) answers.set_value();
  }
  /// Work that hangs.
  [[nodiscard]] std::function<int()> read() const {
    return [waits = answer] {
      waits.wait();
      return 1;
    };
  }
};

struct FileWorkTest : testing::Test {
  static FileWorkLimits limits() {
    return {.timeout_ns = 2 * kSecond, .suspect_ns = kSecond / 2, .threads_max = 6};
  }
  const live::job::Owner alice{.uid = 1, .user = "alice"};
  const live::job::Owner bob{.uid = 2, .user = "bob"};
  HangingFiles hanging;  ///< outlives the threads of `files`
  FileWork files{limits()};
  /// Works at once.
  static int fine() { return 7; }
};

TEST_F(FileWorkTest, ResultsComeBackFromAnotherThread) {
  const auto here = std::this_thread::get_id();
  const auto there =
      files.run<std::thread::id>(alice, [] { return std::this_thread::get_id(); }).value();
  EXPECT_NE(here, there);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(files.run<int>(alice, fine).value(), 7);
  EXPECT_EQ(files.stop(), 0U);
}

TEST_F(FileWorkTest, AnExceptionIsNoResult) {
  const auto got = files.run<int>(alice, []() -> int { throw std::bad_alloc(); });
  ASSERT_FALSE(got);
  EXPECT_FALSE(got.error().is_busy);
  EXPECT_EQ(files.run<int>(alice, fine).value(), 7);
}

TEST_F(FileWorkTest, ManyCallersOfOneUserTakeTurns) {
  std::atomic<int> done = 0;
  std::atomic<int> at_once = 0;
  std::atomic<int> at_once_max = 0;
  FileWork patient({.timeout_ns = 600 * kSecond, .suspect_ns = 600 * kSecond});
  std::vector<std::thread> callers;
  for (int i = 0; i < 24; ++i) {
    callers.emplace_back([&] {
      for (int j = 0; j < 20; ++j) {
        const auto got = patient.run<int>(alice, [&] {
          const int now = ++at_once;
          for (int most = at_once_max;
               now > most && !at_once_max.compare_exchange_weak(most, now););
          std::this_thread::yield();
          --at_once;
          return 1;
        });
        done += got ? *got : 0;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(done, 24 * 20);
  EXPECT_LE(at_once_max, 4);
}

TEST_F(FileWorkTest, HangingFilesOfOneUserBlockNobodyForLong) {
  std::atomic<int> late = 0;
  std::atomic<int> refused = 0;
  std::atomic<int> busy = 0;
  std::vector<std::thread> callers;
  const base::TimeNs begin = base::steady_ns();
  for (int i = 0; i < 64; ++i) {
    callers.emplace_back([&] {
      const auto got = files.run<int>(alice, hanging.read());
      ASSERT_FALSE(got);
      const std::string text = got.error().error.text();
      late += text.find("did not answer within 2 s") != std::string::npos ? 1 : 0;
      refused += text.find("files of alice have not returned") != std::string::npos ? 1 : 0;
      busy += got.error().is_busy ? 1 : 0;
    });
  }
  EXPECT_EQ(files.run<int>(bob, fine).value(), 7) << "somebody else";
  for (std::thread& caller : callers) caller.join();
  EXPECT_LT(base::steady_ns() - begin, 20 * kSecond);
  EXPECT_EQ(late, 4);
  EXPECT_EQ(late + refused + busy, 64);
  EXPECT_EQ(files.run<int>(bob, fine).value(), 7);
  // Nobody queues behind what hangs.
  EXPECT_THAT(files.run<int>(alice, fine).error().error.text(), HasSubstr("have not returned"));
  EXPECT_EQ(files.start(alice, [] {}), nullptr);
  // When the file system answers, all is as before.
  hanging.answer_now();
  const base::TimeNs limit = base::steady_ns() + 20 * kSecond;
  while (!files.run<int>(alice, fine) && base::steady_ns() < limit) std::this_thread::yield();
  EXPECT_EQ(files.run<int>(alice, fine).value(), 7);
  EXPECT_EQ(files.stop(), 0U);
}

TEST_F(FileWorkTest, TasksThatWereStartedAreAskedLater) {
  const auto quick = files.start(alice, [] {});
  ASSERT_NE(quick, nullptr);
  EXPECT_TRUE(files.wait(*quick, 20 * kSecond));
  const auto slow = files.start(alice, [work = hanging.read()] { (void)work(); });
  EXPECT_FALSE(files.wait(*slow, kSecond / 100));
  hanging.answer_now();
  EXPECT_TRUE(files.wait(*slow, 20 * kSecond));
}

TEST_F(FileWorkTest, TheEndWaitsForNothingThatHangs) {
  std::vector<std::thread> callers;
  std::atomic<int> ended = 0;
  FileWork patient({.timeout_ns = 3600 * kSecond});
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([&] {
      const auto got = patient.run<int>(alice, hanging.read());
      ended += !got && got.error().is_busy ? 1 : 0;
    });
  }
  const auto third = patient.start(alice, [work = hanging.read()] { (void)work(); });
  EXPECT_FALSE(patient.wait(*third, kSecond / 10));
  const base::TimeNs begin = base::steady_ns();
  EXPECT_GE(patient.stop(), 1U);
  for (std::thread& caller : callers) caller.join();
  EXPECT_LT(base::steady_ns() - begin, 10 * kSecond);
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(patient.start(bob, [] {}), nullptr);
  // The pool is destroyed while its threads hang; they return afterwards.
}

TEST_F(FileWorkTest, TasksHaveNoneOfTheProcesssFiles) {
  const int lock = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(lock, 0);
  EXPECT_EQ(files.run<int>(alice, [lock] { return ::fcntl(lock, F_GETFD); }).value(), -1);
  EXPECT_GE(::fcntl(lock, F_GETFD), 0) << "it is open for the others";
  ::close(lock);
}

}  // namespace
}  // namespace goban::serve::api
