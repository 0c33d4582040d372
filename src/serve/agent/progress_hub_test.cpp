#include "serve/agent/progress_hub.hpp"

#include <chrono>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.hpp"

namespace goban::serve::agent {
namespace {

struct ProgressHubTest : testing::Test {
  ProgressHubTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "goban_hub_XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    path = folder + "/agent.sock";
  }
  ~ProgressHubTest() override { std::filesystem::remove_all(folder); }

  void open() {
    auto opened = ProgressHub::open(path, [this](pid_t process) {
      EXPECT_EQ(process, ::getpid()) << "as the kernel says";
      return job;
    });
    ASSERT_TRUE(opened) << opened.error().text();
    hub = std::move(*opened);
  }
  [[nodiscard]] base::Descriptor connect() const {
    base::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return socket;
  }
  /// Polls until a job was heard that satisfies the condition.
  template <typename Holds>
  bool wait_for(Holds holds) {
    for (int i = 0; i < 2000; ++i) {
      for (const site::telemetry::AgentJob& each : hub->heard(base::steady_ns())) {
        if (holds(each)) return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  std::string folder, path;
  std::optional<site::telemetry::AgentJob> job =
      site::telemetry::AgentJob{.id = "42", .uid = 12345, .gpus = {1}};
  std::unique_ptr<ProgressHub> hub;
};

TEST_F(ProgressHubTest, LinesBelongToTheJobOfTheirProcessAndTheUserOfTheKernel) {
  open();
  const base::Descriptor socket = connect();
  ASSERT_TRUE(base::write_all(socket.get(), "goban-progress 1 job=7 pid=1\nprogress epoch=2 epo"));
  ASSERT_TRUE(base::write_all(socket.get(), "chs=4 loss=0.5\n"));
  ASSERT_TRUE(wait_for([](const site::telemetry::AgentJob& each) {
    return each.id == "42" && each.uid == ::geteuid() && each.progress &&
           each.progress->latest.loss == 0.5 && each.progress->latest.epochs == 4;
  })) << "not of job 7, which it named";
}

TEST_F(ProgressHubTest, ARunAfterTheFirstBeginsAnew) {
  open();
  {
    const base::Descriptor socket = connect();
    ASSERT_TRUE(base::write_all(socket.get(), "progress step=100 loss=0.5\n"));
    ASSERT_TRUE(wait_for(
        [](const site::telemetry::AgentJob& each) { return each.progress->latest.step == 100; }));
  }
  const base::Descriptor socket = connect();
  ASSERT_TRUE(base::write_all(socket.get(), "progress step=3\n"));
  ASSERT_TRUE(wait_for([](const site::telemetry::AgentJob& each) {
    return each.progress->latest.step == 3 && each.progress->latest.loss < 0;
  }));
}

TEST_F(ProgressHubTest, ProcessesOfNoJobAreTurnedAway) {
  job.reset();
  open();
  const base::Descriptor socket = connect();
  char letter = 0;
  EXPECT_EQ(::recv(socket.get(), &letter, 1, 0), 0) << "closed";
  EXPECT_TRUE(hub->heard(base::steady_ns()).empty());
}

TEST_F(ProgressHubTest, AUserHasABoundedNumberOfConnectionsAndJobs) {
  int number = 0;  // each connection is of another job, as its process says
  auto opened = ProgressHub::open(path, [&number](pid_t) {
    return site::telemetry::AgentJob{.id = std::to_string(number++), .uid = 1};
  });
  ASSERT_TRUE(opened) << opened.error().text();
  hub = std::move(*opened);
  char letter = 0;
  {
    std::vector<base::Descriptor> sockets;
    for (int i = 0; i < 300; ++i) sockets.push_back(connect());
    EXPECT_EQ(::recv(sockets.back().get(), &letter, 1, 0), 0) << "closed";
    EXPECT_EQ(::recv(sockets[200].get(), &letter, 1, MSG_DONTWAIT), -1) << "open";
  }
  for (int i = 0; i < 600; ++i) {
    const base::Descriptor socket = connect();
    ASSERT_TRUE(base::write_all(socket.get(), "progress step=3\n"));
    ASSERT_EQ(::shutdown(socket.get(), SHUT_WR), 0);
    EXPECT_EQ(::recv(socket.get(), &letter, 1, 0), 0);
  }
  EXPECT_LE(hub->heard(base::steady_ns()).size(), 256U);
  EXPECT_FALSE(hub->heard(base::steady_ns()).empty());
  hub.reset();
}

TEST_F(ProgressHubTest, AFileThatIsNoSocketStays) {
  ASSERT_TRUE(base::replace_file(folder, "agent.sock", "x", base::Durable::No));
  ASSERT_FALSE(ProgressHub::open(path, [](pid_t) { return std::nullopt; }));
  EXPECT_TRUE(base::exists(path));
}

TEST_F(ProgressHubTest, OneAgentServesASocketAndTheNextReplacesIt) {
  open();
  const auto second = ProgressHub::open(path, [](pid_t) { return std::nullopt; });
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().text().find("another agent"), std::string::npos);
  hub.reset();
  EXPECT_FALSE(base::exists(path));
  // One that was killed leaves its socket.
  const base::Descriptor left(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ASSERT_EQ(::bind(left.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  open();
}

}  // namespace
}  // namespace goban::serve::agent
