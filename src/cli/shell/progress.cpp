#include "cli/shell/progress.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace goban::cli {

using namespace std::chrono_literals;

ProgressBar::ProgressBar(std::string label, int64_t total)
    : label_(std::move(label)), total_(std::max<int64_t>(total, 1)) {
  if (isatty(STDERR_FILENO) != 0) thread_ = std::thread([this] { draw_until_stopped(); });
}

ProgressBar::~ProgressBar() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  stop_signal_.notify_all();
  thread_.join();
}

void ProgressBar::draw_until_stopped() {
  constexpr int kWidth = 32;
  const auto begin = std::chrono::steady_clock::now();
  bool drawn = false;
  std::unique_lock lock(mutex_);
  auto pause = 2000ms;
  while (!stop_signal_.wait_for(lock, pause, [this] { return stopped_; })) {
    pause = 500ms;
    const double share =
        std::min(1.0, static_cast<double>(done.load()) / static_cast<double>(total_.load()));
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    const int full = static_cast<int>(share * kWidth);
    const std::string left =
        share > 0 ? fmt::format("{:.0f} s left", passed.count() * (1 - share) / share) : "";
    fmt::print(stderr, "\r{} [{:#<{}}{:.<{}}] {:5.1f} % {:14}", label_, "", full, "", kWidth - full,
               100 * share, left);
    std::fflush(stderr);
    drawn = true;
  }
  if (drawn) fmt::print(stderr, "\r{:{}}\r", "", label_.size() + kWidth + 30);
}

}  // namespace goban::cli
