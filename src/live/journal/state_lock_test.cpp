#include "live/journal/state_lock.hpp"

#include <fcntl.h>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/test_folder.hpp"
#include "live/journal/standby.hpp"

namespace goban::live::journal {
namespace {

using testing::HasSubstr;

TEST(StateLock, SecondOneLearnsWhoHoldsIt) {
  const base::TestFolder folder;
  const std::string state = folder / "state/of/goban";
  auto first = StateLock::take(state);
  ASSERT_TRUE(first) << first.error().text();
  struct stat facts{};
  ASSERT_EQ(::stat(state.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0700U);
  const auto second = StateLock::take(state);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().text(), HasSubstr("process " + std::to_string(::getpid())));
  EXPECT_THAT(second.error().text(), HasSubstr("another state folder"));
  {
    const StateLock gone = std::move(*first);
  }
  EXPECT_TRUE(StateLock::take(state));
}

TEST(StateLock, DiesWithItsProcess) {
  const base::TestFolder folder;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = StateLock::take(folder.path());
    const char said = lock ? 'y' : 'n';
    (void)!::write(ready[1], &said, 1);
    ::pause();
  }
  char said = 0;
  ASSERT_EQ(::read(ready[0], &said, 1), 1);
  EXPECT_EQ(said, 'y');
  EXPECT_FALSE(StateLock::take(folder.path()));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(StateLock::take(folder.path()));
  ::close(ready[0]);
  ::close(ready[1]);
}

/// A process that holds the lock of a folder until it is destroyed.
class Holder {
 public:
  explicit Holder(const std::string& folder) {
    int ready[2];
    if (::pipe(ready) != 0) std::abort();
    child_ = ::fork();
    if (child_ == 0) {
      const auto lock = StateLock::take(folder);
      (void)!::write(ready[1], lock ? "y" : "n", 1);
      while (true) ::pause();
    }
    char said = 0;
    EXPECT_EQ(::read(ready[0], &said, 1), 1);
    EXPECT_EQ(said, 'y');
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~Holder() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  void freeze() const {
    ::kill(child_, SIGSTOP);
    int status = 0;
    EXPECT_EQ(::waitpid(child_, &status, WUNTRACED), child_);
    EXPECT_TRUE(WIFSTOPPED(status));
  }
  void wake() const { ::kill(child_, SIGCONT); }
  [[nodiscard]] pid_t pid() const { return child_; }

 private:
  pid_t child_ = 0;
};

constexpr base::TimeNs kPatience = 10 * base::kSecond;

TEST(HolderWatch, AFrozenHolderIsSilentAfterAWhile) {
  const base::TestFolder folder;
  const Holder holder(folder.path());
  holder.freeze();
  HolderWatch watch(folder.path(), kPatience);
  EXPECT_EQ(watch.look(0), HolderState::Lives);
  EXPECT_THAT(watch.holder(), HasSubstr("process " + std::to_string(holder.pid())));
  EXPECT_EQ(watch.look(kPatience - 1), HolderState::Lives);
  EXPECT_EQ(watch.look(kPatience), HolderState::Silent);
  holder.wake();
  bool moved = false;  // its heartbeat continues
  for (int i = 0; i < 6'000 && !moved; ++i) {
    ::usleep(10'000);
    moved = watch.look(2 * kPatience) == HolderState::Lives;
  }
  EXPECT_TRUE(moved);
}

TEST(HolderWatch, WhoIsGoneIsGoneAtOnce) {
  const base::TestFolder folder;
  HolderWatch watch(folder / "nowhere", kPatience);
  EXPECT_EQ(watch.look(0), HolderState::Gone);
  HolderWatch other(folder.path(), kPatience);
  {
    const Holder holder(folder.path());
    EXPECT_EQ(other.look(0), HolderState::Lives);
  }
  EXPECT_EQ(other.look(0), HolderState::Gone);
}

TEST(StateLock, OneOfSeveralTakesItFromASilentHolder) {
  const base::TestFolder folder;
  const Holder holder(folder.path());
  holder.freeze();
  HolderWatch watch(folder.path(), kPatience);
  ASSERT_EQ(watch.look(0), HolderState::Lives);
  auto mine = StateLock::take_from_silent(folder.path(), watch.inode());
  ASSERT_TRUE(mine) << mine.error().text();
  EXPECT_FALSE(StateLock::take_from_silent(folder.path(), watch.inode()));
  EXPECT_FALSE(StateLock::take(folder.path())) << "the lock is ours, whatever the old one does";
  holder.wake();
  EXPECT_EQ(watch.look(0), HolderState::Lives);
  EXPECT_THAT(watch.holder(), HasSubstr("process " + std::to_string(::getpid())));
  {
    const StateLock gone = std::move(*mine);
  }
  EXPECT_TRUE(StateLock::take(folder.path()));
}

TEST(Epoch, GrowsAndIsNeverGuessed) {
  const base::TestFolder folder;
  EXPECT_EQ(read_epoch(folder.path()).value(), 0U);
  EXPECT_EQ(raise_epoch(system_files(), folder.path(), 1).value(), 1U);
  EXPECT_EQ(raise_epoch(system_files(), folder.path(), 1).value(), 2U);
  EXPECT_EQ(raise_epoch(system_files(), folder.path(), 9).value(), 9U);
  EXPECT_EQ(read_epoch(folder.path()).value(), 9U);
  for (const char* text : {"", "x\n", "9", "-1\n", "0\n", "9 \n"}) {
    std::ofstream(folder / "epoch") << text;
    EXPECT_FALSE(read_epoch(folder.path())) << text;
  }
  EXPECT_FALSE(read_epoch(folder / "nowhere"));
}

}  // namespace
}  // namespace goban::live::journal
