// All-reduces that run while the rank computes: a thread with a communicator of its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "train/comm/communicator.hpp"

namespace goban::train::comm {

/// Runs all-reduces in the order in which they were begun, which must be the same on all ranks. All
/// members are called by the rank's thread.
class AsyncReducer {
 public:
  /// Collective. `end` must outlive it. Errors: those of Communicator::companion.
  [[nodiscard]] static base::Result<std::unique_ptr<AsyncReducer>> start(Communicator& end);
  /// Waits for what was begun, two seconds at most: then a peer is lost.
  ~AsyncReducer();
  AsyncReducer(const AsyncReducer&) = delete;
  AsyncReducer& operator=(const AsyncReducer&) = delete;

  using Ticket = uint64_t;
  /// Data to reduce in place. `keep` owns the bytes. On a GPU (Communicator::takes_device_data),
  /// `written` waits until its earlier work has written them.
  struct Data {
    std::span<std::byte> bytes;
    Element element = Element::F32;
    std::shared_ptr<void> keep;
    std::function<void()> written{};
  };
  /// Begins the reduction of `data`; nobody else may use it until wait().
  [[nodiscard]] Ticket begin(Group group, Data data, Reduction reduction, std::string what);
  /// Waits for the end of a reduction. Errors: its own, or that of an earlier one.
  [[nodiscard]] base::Status wait(Ticket ticket);
  /// Time spent in reductions, whether or not the rank waited for them.
  [[nodiscard]] double reducing_s() const;
  /// Of it, after the last rank had begun them.
  [[nodiscard]] double moving_s() const;
  /// Time that wait() took.
  [[nodiscard]] double waited_s() const { return waited_s_; }
  /// Of it, until the last rank had begun the reduction that was next.
  [[nodiscard]] double late_s() const;

 private:
  struct Job {
    Group group;
    Data data;
    Reduction reduction;
    std::string what;
  };
  explicit AsyncReducer(std::unique_ptr<Communicator> end);
  void work();
  base::Status reduce(Job& job);

  std::unique_ptr<Communicator> end_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;  ///< the first one is running
  uint64_t begun_ = 0, done_ = 0;
  base::Status status_;
  double reducing_s_ = 0, moving_s_ = 0, waited_s_ = 0, late_s_ = 0;
  double wait_begin_s_ = -1;  ///< of the wait() that goes on; negative: none
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace goban::train::comm
