// The daemon of this machine, with GPUs that are cores and without jobs.
#include "service/machine_daemon.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <mutex>
#include <sys/stat.h>

#include "base/sha256.hpp"
#include "service/api_client.hpp"

namespace goban::service {
namespace {

using testing::HasSubstr;
using testing::Not;

struct MachineDaemonTest : testing::Test {
  MachineDaemonTest() {
    char pattern[] = "/tmp/goban_machine_XXXXXX";
    folder = ::mkdtemp(pattern);
    config.state = folder + "/state";
    config.virtual_gpus = 2;
    config.doors.listen = "127.0.0.1:0";
    config.doors.callers.token_file = folder + "/tokens";
  }
  ~MachineDaemonTest() override { std::filesystem::remove_all(folder); }

  void write_token(const std::string& token, const std::string& role) const {
    const std::string file = folder + "/tokens";
    std::ofstream(file) << base::hex(base::sha256(token)) << ' ' << role << " daemon\n";
    ::chmod(file.c_str(), 0600);
  }
  std::unique_ptr<MachineDaemon> start() {
    auto daemon = MachineDaemon::start(config, [this](const std::string& line) {
      const std::scoped_lock lock(mutex);
      said += line + "\n";
    });
    EXPECT_TRUE(daemon) << daemon.error().text();
    return daemon ? std::move(*daemon) : nullptr;
  }
  static bool knows(const MachineDaemon& daemon, const std::string& token) {
    const std::string text = daemon.addresses();
    const size_t begin = text.find("http://");
    ApiClient client({.url = text.substr(begin, text.rfind('/') - begin), .token = token});
    return client.get("/v1/stats").has_value();
  }

  std::string folder;
  ServeConfig config;
  std::mutex mutex;
  std::string said;
};

TEST_F(MachineDaemonTest, WhatMayChangeWhileItRuns) {
  write_token("first", "viewer");
  const auto daemon = start();
  ASSERT_NE(daemon, nullptr);
  EXPECT_TRUE(knows(*daemon, "first"));
  write_token("second", "viewer");
  EXPECT_FALSE(knows(*daemon, "second"));
  ASSERT_TRUE(daemon->reload(config));
  EXPECT_TRUE(knows(*daemon, "second"));
  EXPECT_FALSE(knows(*daemon, "first"));
  EXPECT_THAT(said, HasSubstr("read again"));
  EXPECT_THAT(said, Not(HasSubstr("next start")));

  ServeConfig other = config;
  other.policy = "las+pal";
  other.doors.requests_per_s = 7;
  ASSERT_TRUE(daemon->reload(other));
  EXPECT_THAT(said, HasSubstr("waits for the next start: policy, service.requests_per_s\n"));
  EXPECT_EQ(daemon->config().policy, "goban");

  std::ofstream(folder + "/tokens") << "nonsense\n";
  const auto refused = daemon->reload(config);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("tokens:1"));
  EXPECT_TRUE(knows(*daemon, "second")) << "the tokens before count on";
}

}  // namespace
}  // namespace goban::service
