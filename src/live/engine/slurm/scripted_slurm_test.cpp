// The engine over scripts in place of Slurm's commands: what a real Slurm does too rarely to wait
// for.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <thread>
#include <unistd.h>

#include "live/engine/slurm/slurm_engine.hpp"

namespace goban::live::engine::slurm {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

class ScriptedSlurm : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ + "/state");
    script("squeue", "echo look >>looks\nif [ -e fails ]; then mv fails failed; exit 1; fi\n");
    script("scontrol",
           "case $* in\n*'show node'*) cat nodes;;\n*'show config'*) cat config;;\n"
           "*) cat >>orders;;\nesac\n");
    put("config", fmt::format("StateSaveLocation       = {}/state\n", folder_));
    node("IDLE");
    setenv("PATH", (folder_ + ":" + path_).c_str(), 1);
  }
  void TearDown() override {
    engine_.reset();
    setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }

  void put(const std::string& name, const std::string& text) const {
    // Replaced at once, as a script may read it.
    std::ofstream(folder_ + "/new") << text;
    fs::rename(folder_ + "/new", folder_ + "/" + name);
  }
  void script(const std::string& name, const std::string& text) const {
    put(name, fmt::format("#!/bin/sh\ncd {}\n{}", folder_, text));
    fs::permissions(folder_ + "/" + name, fs::perms::all);
  }
  void node(const std::string& state) const {
    put("nodes", fmt::format("NodeName=n1 CPUTot=4 RealMemory=1 Gres=gpu:1 State={}\n", state));
  }
  std::string text(const std::string& name) const {
    std::ifstream in(folder_ + "/" + name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  size_t looks() const { return fs::exists(folder_ + "/looks") ? text("looks").size() / 5 : 0; }
  void start(const Rhythm& rhythm) {
    engine_ = std::make_unique<SlurmEngine>(
        SlurmOptions{.epoch = 1, .rhythm = rhythm, .sleep = true, .timeout_s = 20});
    engine_->recall({});
  }
  void take() {
    for (EngineEvent& event : engine_->take_events()) {
      if (auto* seen = std::get_if<ClusterSeen>(&event)) cluster_ = *seen;
      if (auto* report = std::get_if<Report>(&event)) reports_.push_back(*report);
    }
  }
  void wait(const char* what, const std::function<bool()>& holds) {
    const auto end = Clock::now() + std::chrono::seconds(30);
    while (Clock::now() < end) {
      take();
      if (holds()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    FAIL() << what << ": not within 30 s; " << engine_->problem();
  }
  /// slurmctld stores something.
  void store() const { put("state/job_state", std::to_string(looks())); }
  /// Nobody looks at the queue for this time.
  bool rests_for(std::chrono::milliseconds time) {
    const size_t before = looks();
    std::this_thread::sleep_for(time);
    return looks() == before;
  }

  std::string path_ = std::getenv("PATH");
  std::string folder_ = testing::TempDir() + fmt::format("goban-scripted-{}", ::getpid());
  std::unique_ptr<SlurmEngine> engine_{};
  ClusterSeen cluster_{};
  std::vector<Report> reports_{};
};

TEST_F(ScriptedSlurm, ALookThatFailsAtRestIsRepeatedSoon) {
  start({.poll_s = 0.02, .rest_s = 0.02, .watched_s = 4});
  wait("the nodes", [&] { return cluster_.nodes.size() == 1; });
  store();  // the folder is in use
  wait("rest", [&] { return rests_for(std::chrono::milliseconds(500)); });
  put("fails", "");
  wait("a look that fails", [&] { return !engine_->problem().empty(); });
  const auto failed = Clock::now();
  wait("the next one", [&] { return engine_->problem().empty(); });
  EXPECT_LT(Clock::now() - failed, std::chrono::seconds(2)) << "not only after 4 s";
}

TEST_F(ScriptedSlurm, ANodeThatDoesNotWakeUpIsDownAndIsLetBe) {
  start({.poll_s = 0.02, .rest_s = 0.02, .watched_s = 4, .nodes_s = 0.02});
  node("IDLE+POWERED_DOWN");
  wait("the nodes", [&] { return cluster_.nodes.size() == 1; });
  EXPECT_EQ(cluster_.nodes[0].state, SeenNodeState::Up) << "it wakes for a job";
  engine_->wake("n1");
  wait("the order", [&] { return text("orders").find("state=power_up") != std::string::npos; });
  node("IDLE+NOT_RESPONDING+POWERING_UP");
  EXPECT_FALSE(rests_for(std::chrono::milliseconds(1000))) << "it is looked at until it is awake";
  node("DOWN+POWERED_DOWN+NOT_RESPONDING");
  wait("that it is down", [&] { return cluster_.nodes[0].state == SeenNodeState::Down; });
  store();
  wait("rest", [&] { return rests_for(std::chrono::milliseconds(1000)); });
  EXPECT_TRUE(reports_.empty()) << "it is not awake";
  node("IDLE");
  store();
  wait("its return", [&] { return cluster_.nodes[0].state == SeenNodeState::Up; });
}

}  // namespace
}  // namespace goban::live::engine::slurm
