#include "train/comm/call_watch.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <utility>

#include "base/clock.hpp"

namespace goban::train::comm {
namespace {

std::atomic<bool> termination_noted = false;

// A longer time between two checks means that the process was stopped (SIGSTOP, a suspended job),
// and its peers and launcher with it.
constexpr double kLongestLook_s = 1;
// Time without change after SIGTERM before a rank reports. Open MPI sends SIGKILL one second after
// SIGTERM.
constexpr double kStuck_s = 0.3, kComputing_s = 0.6;

}  // namespace

void note_termination() { termination_noted.store(true, std::memory_order_relaxed); }

void CallWatch::Shown::store(const CallHeader& header) {
  std::array<uint64_t, sizeof(CallHeader) / sizeof(uint64_t)> words{};
  std::memcpy(words.data(), &header, sizeof header);
  const uint64_t version = version_.load(std::memory_order_relaxed);
  version_.store(version + 1, std::memory_order_relaxed);
  // A reader that sees one of these words also sees the odd version before it.
  for (size_t i = 0; i < words.size(); ++i) words_[i].store(words[i], std::memory_order_release);
  version_.store(version + 2, std::memory_order_release);
}

CallHeader CallWatch::Shown::load() const {
  std::array<uint64_t, sizeof(CallHeader) / sizeof(uint64_t)> words{};
  for (uint64_t version = 1;;) {
    version = version_.load(std::memory_order_acquire);
    for (size_t i = 0; i < words.size(); ++i) words[i] = words_[i].load(std::memory_order_acquire);
    if (version % 2 == 0 && version_.load(std::memory_order_relaxed) == version) break;
    std::this_thread::yield();
  }
  CallHeader header{};
  std::memcpy(&header, words.data(), sizeof header);
  return header;
}

CallWatch::CallWatch(Settings settings)
    : settings_(std::move(settings)),
      peers_(static_cast<size_t>(settings_.size)),
      thread_([this] { watch(); }) {}

CallWatch::~CallWatch() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  thread_.join();
}

CallWatch::Inside::Inside(CallWatch& watch, const Call& call) : watch_(watch) {
  watch.own_ = pack(call);
  watch.shown_.store(watch.own_);
  watch.met_.store(false, std::memory_order_relaxed);
  watch.entered_.store(watch.entered_.load(std::memory_order_relaxed) + 1,
                       std::memory_order_release);
}

CallWatch::Inside::~Inside() {
  watch_.entered_.store(watch_.entered_.load(std::memory_order_relaxed) + 1,
                        std::memory_order_release);
}

void CallWatch::heard(int rank, const CallHeader& header) {
  Peer& peer = peers_[static_cast<size_t>(rank)];
  peer.last.store(header);
  peer.heard.store(true, std::memory_order_release);
}

void CallWatch::awaits(int rank, bool missing) {
  peers_[static_cast<size_t>(rank)].missing.store(missing, std::memory_order_relaxed);
}

std::string CallWatch::missing() const {
  std::string text;
  for (size_t rank = 0; rank < peers_.size(); ++rank) {
    const Peer& peer = peers_[rank];
    if (!peer.missing.load(std::memory_order_relaxed)) continue;
    const bool heard = peer.heard.load(std::memory_order_acquire);
    text += fmt::format("; rank {} did not arrive ({})", rank,
                        heard ? "last seen in " + unpack(peer.last.load()).text() : "not seen yet");
  }
  return text;
}

std::string CallWatch::where() const {
  const std::string call = unpack(shown_.load()).text();
  return met_.load(std::memory_order_relaxed) ? call + ", at which all its peers have arrived"
                                              : call + missing();
}

void CallWatch::watch() {
  std::unique_lock lock(mutex_);
  double last_s = base::steady_s();
  while (!stopped_.wait_for(lock, std::chrono::duration<double>(settings_.tick_s),
                            [this] { return stop_; })) {
    const double now_s = base::steady_s();
    look(std::min(now_s - std::exchange(last_s, now_s), kLongestLook_s));
  }
}

void CallWatch::look(double passed_s) {
  const uint64_t entered = entered_.load(std::memory_order_acquire);
  const bool inside = entered % 2 == 1;
  if (entered != seen_) {
    seen_ = entered;
    same_s_ = 0;
    next_word_s_ = settings_.first_word_s;
    return;
  }
  same_s_ += passed_s;
  if (termination_noted.load(std::memory_order_relaxed)) look_after_termination(inside);
  if (!inside) return;
  if (same_s_ >= settings_.timeout_s + settings_.grace_s && !told_end_) {
    told_end_ = true;
    settings_.end(fmt::format("rank {} waited {:.0f} s in {}", settings_.rank, same_s_, where()));
  } else if (same_s_ >= next_word_s_) {
    next_word_s_ *= 2;
    settings_.say(fmt::format("rank {} has been waiting for {:.0f} s in {}", settings_.rank,
                              same_s_, where()));
  }
}

void CallWatch::look_after_termination(bool inside) {
  if (told_termination_ || same_s_ < (inside ? kStuck_s : kComputing_s)) return;
  told_termination_ = true;
  const std::string place = inside       ? "was in " + where()
                            : seen_ == 0 ? "had not started to communicate"
                                         : "was computing, after " + unpack(shown_.load()).text();
  settings_.say(fmt::format("rank {} {} when it received SIGTERM", settings_.rank, place));
}

}  // namespace goban::train::comm
