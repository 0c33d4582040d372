// Threads that process a bounded queue.
#pragma once

#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <utility>
#include <vector>

namespace goban::base::http {

/// Starts a thread with all signals blocked.
template <typename Run>
[[nodiscard]] std::thread quiet_thread(Run run) {
  sigset_t all{};
  sigset_t before{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(run));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

class WorkerPool {
 public:
  WorkerPool(uint32_t threads, size_t waiting_max) : waiting_max_(waiting_max) {
    for (uint32_t i = 0; i < threads; ++i) {
      threads_.push_back(quiet_thread([this] { run(); }));
    }
  }
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool() { stop(); }
  /// Finishes the queued tasks and accepts no more.
  void stop() {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  /// False if the queue is full or the pool is stopped.
  [[nodiscard]] bool add(std::function<void()> task) {
    {
      const std::scoped_lock lock(mutex_);
      if (stopping_ || waiting_.size() >= waiting_max_) return false;
      waiting_.push_back(std::move(task));
    }
    changed_.notify_one();
    return true;
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const std::function<void()> task = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
  size_t waiting_max_;
  bool stopping_ = false;
};

}  // namespace goban::base::http
