// For tests of the local engine: a state folder of its own, jobs as scripts, real supervisors.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "live/engine/local/local_engine.hpp"

namespace goban::live::engine::local {

/// Waits until `holds` returns true; false after `timeout_s`.
inline bool wait_until(const std::function<bool()>& holds, double timeout_s = 20) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

inline std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Whether a process is running (zombies are not).
inline bool lives(const std::string& pid) {
  const std::string stat = text_of("/proc/" + pid + "/stat");
  const size_t at = stat.rfind(')');
  return at != std::string::npos && at + 2 < stat.size() && stat[at + 2] != 'Z';
}

/// A state folder and an engine on it.
class TestRuns {
 public:
  explicit TestRuns(const std::string& name)
      : state_(fast_folder() / ("goban_" + name + "_" + std::to_string(getpid()))) {
    std::filesystem::remove_all(state_);
    std::filesystem::create_directories(state_ + "/out");
    std::filesystem::permissions(state_, std::filesystem::perms::owner_all);
    options.state = state_;
    options.node = "here";
    options.supervisor = {GOBAN_BINARY_DIR "/bin/goban", "supervise"};
  }
  /// Retries, as a supervisor that is still exiting may remove files at the same time.
  ~TestRuns() {
    wait_until([&] {
      std::error_code failed;
      std::filesystem::remove_all(state_, failed);
      return !failed && !std::filesystem::exists(state_);
    });
  }
  TestRuns(const TestRuns&) = delete;
  TestRuns& operator=(const TestRuns&) = delete;

  [[nodiscard]] const std::string& state() const { return state_; }
  [[nodiscard]] std::string out(const std::string& name) const { return state_ + "/out/" + name; }

  /// A job of this user that runs the script; writes its payload.
  [[nodiscard]] LaunchOrder job(uint32_t number, const std::string& script) const {
    return job(number, Payload{script, {}, {{"PATH", std::string(getenv("PATH"))}}, {}});
  }
  [[nodiscard]] LaunchOrder job(uint32_t number, const Payload& payload) const {
    LaunchOrder order;
    order.run = {core::model::JobId(number - 1), 1};
    order.spec.name = "test";
    order.spec.owner = {geteuid(), getegid(), "tester"};
    order.spec.work_folder = state_ + "/out";
    order.spec.num_gpus = 0;
    order.spec.stop.grace_ns = 20 * base::kSecond;
    order.spec.payload = "p" + std::to_string(number);
    const std::string folder = state_ + "/payloads/" + order.spec.payload;
    std::filesystem::create_directories(folder);
    if (!base::replace_file(folder, "payload.json", to_text(payload), base::Durable::No))
      std::abort();
    return order;
  }
  [[nodiscard]] RunFolder folder(const LaunchOrder& order) const {
    return RunFolder(state_, order.run);
  }

  /// A new engine, as after a restart of the daemon.
  void restart() { engine_.emplace(options, gpus); }
  [[nodiscard]] LocalEngine& engine() {
    if (!engine_) restart();
    return *engine_;
  }
  /// What the engine reported since the last call.
  std::vector<Report> reports() {
    std::vector<Report> out;
    for (EngineEvent& event : engine().take_events()) {
      out.push_back(std::move(std::get<Report>(event)));
    }
    return out;
  }
  /// All reports up to the first of this kind for the run; on a timeout the last one has kind Lost
  /// and detail "timeout".
  std::vector<Report> wait_for(RunId run, ReportKind kind) {
    std::vector<Report> all;
    const bool came = wait_until([&] {
      for (Report& report : reports()) {
        const bool is_it = report.run == run && report.kind == kind;
        all.push_back(std::move(report));
        if (is_it) return true;
      }
      return false;
    });
    if (!came) {
      all.emplace_back().kind = ReportKind::Lost;
      all.back().detail = "timeout";
    }
    return all;
  }
  /// Launches it and waits for its end.
  Report run(const LaunchOrder& order) {
    engine().launch(order);
    return wait_for(order.run, ReportKind::Ended).back();
  }

  LocalOptions options{};
  std::vector<base::gpus::LocalGpu> gpus{};

 private:
  /// In memory if available, as syncs are faster there.
  static std::filesystem::path fast_folder() {
    const std::filesystem::path memory = "/dev/shm";
    return access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
  }

  std::string state_;
  std::optional<LocalEngine> engine_{};
};

}  // namespace goban::live::engine::local
