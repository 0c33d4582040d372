// Reports in which collective a rank hangs. It runs in a separate thread, so it can also report
// while the rank's thread is blocked inside the MPI library.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "train/comm/call_header.hpp"

namespace goban::train::comm {

/// For a program's SIGTERM handler (async-signal-safe). A rank that stays in one collective
/// afterwards reports which one, before its launcher kills it.
void note_termination();

/// The calls of one rank, published by the rank's thread and read by the watch's thread. Publishing
/// costs a few stores.
class CallWatch {
 public:
  struct Settings {
    int rank = 0;
    int size = 1;              ///< ranks of the world
    double timeout_s = 0;      ///< in one collective; then the run ends. Excludes time stopped
    double first_word_s = 10;  ///< in one collective, before the first message; then doubles
    double grace_s = 1;        ///< after timeout_s: the rank's own error has more detail
    double tick_s = 0.1;
    std::function<void(const std::string&)> say;  ///< prints; called by the watch's thread
    std::function<void(const std::string&)> end;  ///< prints and exits; at most once
  };
  explicit CallWatch(Settings settings);
  ~CallWatch();
  CallWatch(const CallWatch&) = delete;
  CallWatch& operator=(const CallWatch&) = delete;

  /// Marks the rank's thread as inside a call during its lifetime.
  class Inside {
   public:
    Inside(CallWatch& watch, const Call& call);
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    CallWatch& watch_;
  };
  /// The current call, or the last one.
  [[nodiscard]] const CallHeader& own() const { return own_; }
  /// Records the call that a peer reported.
  void heard(int rank, const CallHeader& header);
  /// Records whether a peer has not yet arrived at the call.
  void awaits(int rank, bool missing);
  /// All peers have arrived; data transfer starts.
  void met() { met_.store(true, std::memory_order_relaxed); }

  /// "; rank 2 did not arrive (last seen in ...)" for every peer that has not arrived.
  [[nodiscard]] std::string missing() const;

 private:
  /// A header written by one thread and read consistently by another (sequence lock).
  class Shown {
   public:
    void store(const CallHeader& header);
    [[nodiscard]] CallHeader load() const;

   private:
    std::atomic<uint64_t> version_{0};
    std::array<std::atomic<uint64_t>, sizeof(CallHeader) / sizeof(uint64_t)> words_{};
  };
  struct Peer {
    Shown last;
    std::atomic<bool> heard{false}, missing{false};
  };

  void watch();
  /// One check, `passed_s` after the previous one.
  void look(double passed_s);
  void look_after_termination(bool inside);
  [[nodiscard]] std::string where() const;

  Settings settings_;
  CallHeader own_{};
  Shown shown_;
  std::atomic<uint64_t> entered_{0};  ///< calls begun plus calls ended: odd inside a call
  std::atomic<bool> met_{false};
  std::vector<Peer> peers_;

  // Used by the watch's thread only.
  uint64_t seen_ = 0;  ///< `entered_` at the last check
  double same_s_ = 0;  ///< time since it changed
  double next_word_s_ = 0;
  bool told_end_ = false, told_termination_ = false;

  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace goban::train::comm
