// The daemon of this machine, with GPUs that are cores and without jobs.
#include "serve/daemon/machine_daemon.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <thread>

#include "base/clock.hpp"
#include "base/sha256.hpp"
#include "core/knowledge/scores_file.hpp"
#include "serve/api/api_client.hpp"
#include "serve/daemon/replay.hpp"
#include "site/store/job_store.hpp"

namespace goban::serve::daemon {
namespace {

using testing::HasSubstr;
using testing::Not;

struct MachineDaemonTest : testing::Test {
  MachineDaemonTest() {
    char pattern[] = "/tmp/goban_machine_XXXXXX";
    folder = ::mkdtemp(pattern);
    config.state = folder + "/state";
    config.virtual_gpus = 2;
    config.service.listen = "127.0.0.1:0";
    config.service.callers.token_file = folder + "/tokens";
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
    api::ApiClient client({.url = text.substr(begin, text.rfind('/') - begin), .token = token});
    return client.get("/v1/stats").has_value();
  }

  std::string folder;
  ServeConfig config;
  std::mutex mutex;
  std::string said;
};

TEST_F(MachineDaemonTest, ScriptsOfJobsThatNeverRanGoWithThem) {
  write_token("first", "viewer");
  config.service.socket = folder + "/goban.sock";
  const auto daemon = start();
  ASSERT_NE(daemon, nullptr);
  api::ApiClient client({.socket = config.service.socket});
  const auto submit = [&](const std::string& more) {
    const auto answer = client.post("/v1/jobs", R"({"script":"#!/bin/sh\ntrue\n","held":true,)"
                                                R"("env":{"SECRET":"value"},"work_folder":"/tmp")" +
                                                    more + "}");
    EXPECT_TRUE(answer) << answer.error().text();
  };
  const auto payloads = [&] {
    const std::filesystem::directory_iterator all(config.state + "/payloads");
    return std::count_if(begin(all), end(all), [](const auto& entry) {
      return entry.is_directory();  // the pack of the last second is a file
    });
  };
  submit("");
  submit(R"(,"array_tasks":[1,2,3])");
  EXPECT_EQ(payloads(), 2);
  for (const char* job : {"1", "2", "3"}) {
    EXPECT_TRUE(client.remove(std::string("/v1/jobs/") + job));
  }
  const auto wait_for = [&](int64_t count) {
    for (int i = 0; i < 3000 && payloads() != count; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return payloads();
  };
  EXPECT_EQ(wait_for(1), 1) << "a task of the array still needs it";
  EXPECT_TRUE(client.remove("/v1/jobs/4"));
  EXPECT_EQ(wait_for(0), 0);
}

TEST_F(MachineDaemonTest, AUserHasALimitOfBytesThatOutlivesRestarts) {
  write_token("first", "user");
  config.service.socket = folder + "/goban.sock";
  config.bytes_per_user_max = 64 << 10;
  api::ApiClient client({.socket = config.service.socket});
  const std::string body =
      R"({"script":"#!/bin/sh\ntrue\n","held":true,"work_folder":"/tmp","env":{"X":")" +
      std::string(20 << 10, 'x') + R"("}})";  // 6 blocks, and one for the folder
  const auto refused = [&] {
    const auto answer = client.post("/v1/jobs", body);
    return answer ? std::string{} : answer.error().text();
  };
  const auto payloads = [&] {
    const std::filesystem::directory_iterator all(config.state + "/payloads");
    return std::count_if(begin(all), end(all),
                         [](const auto& each) { return each.is_directory(); });
  };
  {
    const auto daemon = start();
    ASSERT_NE(daemon, nullptr);
    EXPECT_EQ(refused(), "");
    EXPECT_EQ(refused(), "");
    const std::string why = refused();
    for (const char* part : {"use 0.05 MiB", "limit of 0.06 MiB", "bytes_per_user"}) {
      EXPECT_THAT(why, HasSubstr(part));
    }
    EXPECT_EQ(payloads(), 2) << "nothing of a refused one is left";
  }
  const auto daemon = start();
  ASSERT_NE(daemon, nullptr);
  EXPECT_THAT(refused(), HasSubstr("use 0.05 MiB"));
  ASSERT_TRUE(client.remove("/v1/jobs/1"));
  for (int i = 0; i < 3000 && payloads() > 1; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(refused(), "") << "the first is gone";
  EXPECT_NE(refused(), "");
}

TEST_F(MachineDaemonTest, ASubmissionBeyondTheLimitOfJobsLeavesNoScript) {
  write_token("first", "user");
  config.service.socket = folder + "/goban.sock";
  config.jobs_per_user_max = 1;
  const auto daemon = start();
  ASSERT_NE(daemon, nullptr);
  api::ApiClient client({.socket = config.service.socket});
  const std::string body = R"({"script":"#!/bin/sh\ntrue\n","held":true,"work_folder":"/tmp"})";
  ASSERT_TRUE(client.post("/v1/jobs", body));
  const auto answer = client.post("/v1/jobs", body);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().text(), HasSubstr("maximum of 1"));
  const std::filesystem::directory_iterator all(config.state + "/payloads");
  EXPECT_EQ(
      std::count_if(begin(all), end(all), [](const auto& each) { return each.is_directory(); }), 1);
}

TEST_F(MachineDaemonTest, AStateFolderWhoseJournalIsGoneIsRefusedAndKept) {
  write_token("first", "user");
  config.service.socket = folder + "/goban.sock";
  {
    const auto daemon = start();
    ASSERT_NE(daemon, nullptr);
    api::ApiClient client({.socket = config.service.socket});
    ASSERT_TRUE(client.post("/v1/jobs", R"({"script":"#!/bin/sh\ntrue\n","held":true})"));
  }
  const std::string journal = config.state + "/journal";
  std::filesystem::rename(journal, folder + "/journal");
  const auto payloads = [&] {
    const std::filesystem::directory_iterator all(config.state + "/payloads");
    return std::count_if(begin(all), end(all),
                         [](const auto& each) { return each.is_directory(); });
  };
  for (const bool is_empty : {false, true}) {
    if (is_empty) std::filesystem::create_directory(journal);
    const auto refused = MachineDaemon::start(config, [](const std::string&) {});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().text(), HasSubstr("no journal"));
    EXPECT_THAT(refused.error().text(), HasSubstr("goban backup"));
    EXPECT_EQ(payloads(), 1) << "its script is kept";
  }
  std::filesystem::remove_all(journal);
  std::filesystem::rename(folder + "/journal", journal);
  EXPECT_NE(start(), nullptr);
  EXPECT_EQ(payloads(), 1);
}

TEST_F(MachineDaemonTest, AReplayNeedsNoGpus) {
  write_token("first", "user");
  ASSERT_NE(start(), nullptr);
  ServeConfig elsewhere = config;
  elsewhere.virtual_gpus = 0;
  const auto done = replay_journal(elsewhere, config.state);
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_TRUE(done->differences.empty());
}

TEST_F(MachineDaemonTest, OnLoopbackItsOwnUserHasAToken) {
  config.service.callers.token_file.clear();
  const auto link_of = [&] {
    std::ifstream in(dashboard_link_file(config.state));
    std::string link;
    std::getline(in, link);
    return link;
  };
  std::string token;
  {
    const auto daemon = start();
    ASSERT_NE(daemon, nullptr);
    const std::string link = link_of();
    ASSERT_THAT(link, testing::MatchesRegex("http://127\\.0\\.0\\.1:[0-9]+/#token=[-_0-9A-Za-z]+"));
    token = link.substr(link.rfind('=') + 1);
    EXPECT_GE(token.size(), 43U);
    for (const std::string& file : {dashboard_link_file(config.state), config.state + "/token"}) {
      struct stat facts{};
      ASSERT_EQ(::stat(file.c_str(), &facts), 0) << file;
      EXPECT_EQ(facts.st_mode & 0777, 0600U) << file;
    }
    EXPECT_TRUE(knows(*daemon, token));
    EXPECT_FALSE(knows(*daemon, token.substr(1)));
    EXPECT_FALSE(knows(*daemon, ""));
    EXPECT_THAT(daemon->addresses(true), HasSubstr(link));
    EXPECT_THAT(daemon->addresses(), Not(HasSubstr(token)));
    EXPECT_THAT(said, Not(HasSubstr(token)));
    // Configured tokens replace it.
    write_token("first", "viewer");
    ServeConfig other = config;
    other.service.callers.token_file = folder + "/tokens";
    ASSERT_TRUE(daemon->reload(other));
    EXPECT_TRUE(knows(*daemon, "first"));
    EXPECT_FALSE(knows(*daemon, token));
    EXPECT_EQ(link_of(), "");
    ASSERT_TRUE(daemon->reload(config));
    EXPECT_TRUE(knows(*daemon, token));
  }
  EXPECT_EQ(link_of(), "") << "the daemon no longer listens";
  ASSERT_EQ(::chmod((config.state + "/token").c_str(), 0644), 0);
  const auto known_to_all = MachineDaemon::start(config, [](const std::string&) {});
  ASSERT_FALSE(known_to_all);
  EXPECT_THAT(known_to_all.error().text(), HasSubstr("/token: users other"));
}

TEST_F(MachineDaemonTest, AStateFolderIsNobodyElses) {
  const auto refused = [this](const std::string& why) {
    const auto daemon = MachineDaemon::start(config, [](const std::string&) {});
    return !daemon && daemon.error().text().find(why) != std::string::npos;
  };
  config.service.callers.token_file.clear();
  config.state = folder + "/shared";
  std::filesystem::create_directory(config.state);
  std::ofstream(config.state + "/thesis.tex") << "hers";
  ASSERT_EQ(::chmod(config.state.c_str(), 01777), 0);
  EXPECT_TRUE(refused("contains other files"));
  struct stat facts{};
  ASSERT_EQ(::stat(config.state.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 01777U) << "unchanged";
  std::filesystem::remove(config.state + "/thesis.tex");
  {
    const auto daemon = start();
    EXPECT_NE(daemon, nullptr) << "it is empty";
    ASSERT_EQ(::stat(config.state.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0700U);
  }
  if (::geteuid() != 0) GTEST_SKIP() << "requires root";
  ASSERT_EQ(::chown(config.state.c_str(), 65534, 65534), 0);
  EXPECT_TRUE(refused("belongs to user 65534"));
}

TEST_F(MachineDaemonTest, WhatIfAsksForTheScoresThatCountNow) {
  write_token("first", "viewer");
  config.service.socket = folder + "/goban.sock";
  config.store = folder + "/store.sqlite";
  config.refresh = false;  // no measurement changes the scores
  {
    site::records::AccountingRecord record;
    record.id = "1";
    record.submit_ns = record.start_ns = base::wall_ns() - 3600 * base::kSecond;
    record.end_ns = record.start_ns + 100 * base::kSecond;
    record.state = site::records::RecordedState::Completed;
    record.num_gpus = 2;
    auto store = site::store::JobStore::open(config.store, true);
    ASSERT_TRUE(store) << store.error().text();
    ASSERT_TRUE(store->append({&record, 1}, "test"));
  }
  const auto daemon = start();
  ASSERT_NE(daemon, nullptr);
  api::ApiClient client({.socket = config.service.socket});
  const auto jct_s = [&client] {
    const auto answer = client.post("/v1/whatif", R"({"policies":["fifo+packed"],"days":1})");
    EXPECT_TRUE(answer) << answer.error().text();
    return answer ? nlohmann::json::parse(*answer)["policies"][1]["avg_jct_s"].get<double>() : -1;
  };
  EXPECT_EQ(jct_s(), 100);
  const std::string measured = "GPU_ID,PerfVar_classA\n0,1\n1,1.5\n";
  const auto table = core::knowledge::parse_scores(measured, "scores", 2);
  ASSERT_TRUE(table) << table.error().text();
  const auto sent = client.post("/v1/scores", core::knowledge::to_csv(*table));
  ASSERT_TRUE(sent) << sent.error().text();
  EXPECT_EQ(jct_s(), 150) << "the job is as slow as its slowest GPU";
}

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
  EXPECT_THAT(said, HasSubstr("reloaded roles, tokens and certificate"));
  EXPECT_THAT(said, Not(HasSubstr("next start")));

  ServeConfig other = config;
  other.policy = "las+pal";
  other.service.requests_per_s = 7;
  ASSERT_TRUE(daemon->reload(other));
  EXPECT_THAT(said, HasSubstr("at the next start: policy, service.requests_per_s\n"));
  EXPECT_EQ(daemon->config().policy, "goban");

  std::ofstream(folder + "/tokens") << "nonsense\n";
  const auto refused = daemon->reload(config);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("tokens:1"));
  EXPECT_TRUE(knows(*daemon, "second")) << "the previous tokens stay valid";
}

}  // namespace
}  // namespace goban::serve::daemon
