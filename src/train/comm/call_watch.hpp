// Says in which operation a rank hangs, from a thread of its own: also where the rank's thread is
// inside of the MPI library and cannot.
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

/// To be called by a program's handler of SIGTERM (async-signal-safe): ranks that stay in one
/// operation after it say in which, before their launcher kills them.
void note_termination();

/// One rank's calls, shown by the rank's thread and read by the watch's. Showing costs some stores.
class CallWatch {
 public:
  struct Settings {
    int rank = 0;
    int size = 1;  ///< ranks of the world
    double timeout_s =
        0;  /// longer in one operation ends the run; time while stopped counts little
    double first_word_s = 10;  ///< in one operation before it is told; then twice that, ...
    double grace_s = 1;        ///< beyond timeout_s, for the rank's thread to say more than we know
    double tick_s = 0.1;
    std::function<void(const std::string&)> say;  ///< called by the watch's thread
    std::function<void(const std::string&)> end;  ///< as `say`; at most once
  };
  explicit CallWatch(Settings settings);
  ~CallWatch();
  CallWatch(const CallWatch&) = delete;
  CallWatch& operator=(const CallWatch&) = delete;

  /// The rank's thread is in a call while it lives.
  class Inside {
   public:
    Inside(CallWatch& watch, const Call& call);
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    CallWatch& watch_;
  };
  /// The call it is in.
  [[nodiscard]] const CallHeader& own() const { return own_; }
  /// What a peer said it is in.
  void heard(int rank, const CallHeader& header);
  /// Whether a slow peer is still to come to the call.
  void awaits(int rank, bool missing);
  /// All peers have come: from here on data moves.
  void met() { met_.store(true, std::memory_order_relaxed); }

  /// "; rank 2 did not come (last seen in ...)" of all that are awaited.
  [[nodiscard]] std::string missing() const;

 private:
  /// A header that one thread writes and another reads whole.
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
  /// One look, `passed_s` after the last one.
  void look(double passed_s);
  void look_after_termination(bool inside);
  [[nodiscard]] std::string where() const;

  Settings settings_;
  CallHeader own_{};
  Shown shown_;
  std::atomic<uint64_t> entered_{0};  ///< calls begun and ended: odd within one
  std::atomic<bool> met_{false};
  std::vector<Peer> peers_;

  // Of the watch's thread.
  uint64_t seen_ = 0;  ///< `entered_` at the last look
  double same_s_ = 0;  ///< for which it has not changed
  double next_word_s_ = 0;
  bool told_end_ = false, told_termination_ = false;

  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace goban::train::comm
