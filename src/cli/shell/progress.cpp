#include "cli/shell/progress.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/shell/command.hpp"

namespace goban::cli {

using namespace std::chrono_literals;

ProgressBar::ProgressBar() : Progress(interrupted()) {}

ProgressBar::ProgressBar(const std::string& phase, int64_t total) : ProgressBar() {
  ProgressBar::begin(phase, total);
}

ProgressBar::~ProgressBar() { ProgressBar::end(); }

void ProgressBar::begin(const std::string& phase, int64_t total) {
  ProgressBar::end();
  Progress::begin(phase, total);
  stopped_ = false;
  if (isatty(STDERR_FILENO) != 0)
    thread_ = std::thread([this, phase] { draw_until_stopped(phase); });
}

void ProgressBar::end() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  stop_signal_.notify_all();
  thread_.join();
}

void ProgressBar::note(const std::string& text) { fmt::print(stderr, "goban: note: {}\n", text); }

void ProgressBar::draw_until_stopped(const std::string& label) {
  constexpr int kWidth = 32;
  const auto begin = std::chrono::steady_clock::now();
  bool drawn = false;
  std::unique_lock lock(mutex_);
  auto pause = 2000ms;
  while (!stop_signal_.wait_for(lock, pause, [this] { return stopped_; })) {
    pause = 500ms;
    const double share =
        std::min(1.0, static_cast<double>(done.load()) / static_cast<double>(total()));
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    const int full = static_cast<int>(share * kWidth);
    const std::string left =
        share > 0 ? fmt::format("{:.0f} s left", passed.count() * (1 - share) / share) : "";
    fmt::print(stderr, "\r{} [{:#<{}}{:.<{}}] {:5.1f} % {:14}", label, "", full, "", kWidth - full,
               100 * share, left);
    std::fflush(stderr);
    drawn = true;
  }
  if (drawn) fmt::print(stderr, "\r{:{}}\r", "", label.size() + kWidth + 30);
}

}  // namespace goban::cli
