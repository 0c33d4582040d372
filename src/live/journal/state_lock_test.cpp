#include "live/journal/state_lock.hpp"

#include <fcntl.h>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/journal/test_folder.hpp"

namespace goban::live {
namespace {

using testing::HasSubstr;

TEST(StateLock, SecondOneLearnsWhoHoldsIt) {
  const TestFolder folder;
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
  const TestFolder folder;
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

TEST(Epoch, GrowsAndIsNeverGuessed) {
  const TestFolder folder;
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
}  // namespace goban::live
