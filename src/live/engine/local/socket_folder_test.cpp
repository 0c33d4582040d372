// The folder of a run's sockets belongs to the daemon's user: the job's user connects, and changes
// nothing.
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/engine/local/progress_listener.hpp"

namespace goban::live::engine::local {
namespace {

constexpr uint32_t kUser = 65534;
constexpr uint32_t kOther = 65533;

/// Whether it holds in a process of this user.
bool holds_as(uint32_t uid, const std::function<bool()>& is_true) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool dropped = ::setgid(uid) == 0 && ::setuid(uid) == 0;
    ::_exit(dropped && is_true() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool can_connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const base::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

TEST(SocketFolder, TheJobsUserConnectsAndChangesNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  char pattern[] = "/tmp/goban_sockets_XXXXXX";
  const std::string root = ::mkdtemp(pattern);
  ASSERT_EQ(::chmod(root.c_str(), 0711), 0);
  const std::string folder = make_socket_folder(root).value();
  const job::Owner owner{.uid = kUser, .gid = kUser, .user = "nobody"};
  const std::string path = folder + "/progress.sock";
  const auto listening = listen_at(path, owner);
  ASSERT_TRUE(listening) << listening.error().text();
  ASSERT_TRUE(let_in(folder, owner));

  EXPECT_TRUE(holds_as(kUser, [&] { return can_connect(path); }));
  EXPECT_FALSE(holds_as(kOther, [&] { return can_connect(path); }));
  EXPECT_FALSE(holds_as(kUser, [&] { return ::mkdir((folder + "/more").c_str(), 0700) == 0; }));
  EXPECT_FALSE(holds_as(kUser, [&] { return ::unlink(path.c_str()) == 0; }));
  EXPECT_FALSE(holds_as(kUser, [&] { return ::chmod(folder.c_str(), 0777) == 0; }));
  EXPECT_FALSE(holds_as(kUser, [&] { return ::access(folder.c_str(), R_OK) == 0; }));
  struct stat facts{};
  ASSERT_EQ(::stat(folder.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_uid, 0U);
  EXPECT_EQ(facts.st_mode & 0777U, 0711U);
  std::filesystem::remove_all(root);
}

TEST(SocketFolder, OfOnesOwnJobsStaysPrivate) {
  const std::string folder = make_socket_folder("/tmp").value();
  const job::Owner owner{.uid = ::geteuid(), .gid = ::getegid(), .user = "me"};
  const auto listening = listen_at(folder + "/progress.sock", owner);
  ASSERT_TRUE(listening) << listening.error().text();
  ASSERT_TRUE(let_in(folder, owner));
  struct stat facts{};
  ASSERT_EQ(::stat(folder.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0700U);
  EXPECT_TRUE(can_connect(folder + "/progress.sock"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace goban::live::engine::local
