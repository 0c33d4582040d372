// Prepares items ahead of their use with several threads and gives them out in order.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace goban::train::data {

/// The order does not depend on the number of threads: taking is one at a time, finishing is
/// parallel, and next() gives items in the order in which they were taken. At most `capacity` items
/// wait; threads then pause (back-pressure). next() is called by one thread.
template <typename Item>
class OrderedLoader {
 public:
  /// The parallel part of one item. It runs on any thread.
  using Finish = std::function<base::Result<Item>()>;
  /// The serial part: returns what finishes the next item; nullopt at the end.
  using Take = std::function<base::Result<std::optional<Finish>>()>;

  OrderedLoader(Take take, size_t threads, size_t capacity)
      : take_(std::move(take)), capacity_(std::max<size_t>(capacity, 1)) {
    for (size_t i = 0; i < threads; ++i) add_thread();
  }
  ~OrderedLoader() {
    {
      const std::scoped_lock lock(state_);
      stop_ = true;
    }
    changed_.notify_all();
    for (std::thread& each : threads_) each.join();
  }
  OrderedLoader(const OrderedLoader&) = delete;
  OrderedLoader& operator=(const OrderedLoader&) = delete;

  void add_thread() {
    threads_.emplace_back([this] { work(); });
  }
  [[nodiscard]] size_t threads() const { return threads_.size(); }

  /// The next item; nullopt at the end. Errors: the first of take or finish in the order of the
  /// items. Nothing comes after it.
  [[nodiscard]] base::Result<std::optional<Item>> next() {
    std::unique_lock lock(state_);
    const double begin = base::steady_s();
    changed_.wait(lock, [&] { return done_.contains(given_) || given_ >= end_; });
    waited_s_ += base::steady_s() - begin;
    const auto found = done_.find(given_);
    if (found == done_.end()) return std::optional<Item>{};
    base::Result<Item> out = std::move(found->second);
    done_.erase(found);
    if (out) ++given_;
    lock.unlock();
    changed_.notify_all();
    if (!out) return base::failure(out.error());
    return std::optional<Item>(std::move(*out));
  }
  /// Time that next() waited for items.
  [[nodiscard]] double waited_s() const { return waited_s_; }

 private:
  /// Waits for room, then takes the next item. False when there is nothing more to do.
  bool take_one(uint64_t& number, Finish& finish) {
    const std::scoped_lock one_at_a_time(taking_);
    {
      std::unique_lock lock(state_);
      changed_.wait(lock, [&] { return stop_ || taken_ < given_ + capacity_; });
      if (stop_ || taken_ >= end_) return false;
      number = taken_;
    }
    auto taken = take_();
    const std::scoped_lock lock(state_);
    if (taken && *taken) {
      ++taken_;
      finish = std::move(**taken);
      return true;
    }
    if (!taken) {
      done_.emplace(number, base::failure(taken.error()));
      end_ = std::min(end_, number + 1);
    } else {
      end_ = std::min(end_, number);
    }
    changed_.notify_all();
    return false;
  }

  void work() {
    uint64_t number = 0;
    Finish finish;
    while (take_one(number, finish)) {
      auto item = finish();
      {
        const std::scoped_lock lock(state_);
        if (!item) end_ = std::min(end_, number + 1);
        done_.emplace(number, std::move(item));
      }
      changed_.notify_all();
    }
  }

  Take take_;
  size_t capacity_;
  std::mutex taking_;  ///< held while taking; never acquired under `state_`
  std::mutex state_;
  std::condition_variable changed_;
  std::map<uint64_t, base::Result<Item>> done_;
  uint64_t taken_ = 0, given_ = 0;
  uint64_t end_ = UINT64_MAX;  ///< number of items, once known
  bool stop_ = false;
  double waited_s_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace goban::train::data
