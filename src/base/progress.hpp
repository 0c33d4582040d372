// Progress of a long operation. The operation counts its steps; the program that started it shows
// the counts, or cancels the operation.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

namespace goban::base {

/// The base class shows nothing. One thread begins and ends phases; any thread may count.
class Progress {
 public:
  Progress() = default;
  /// The operation ends early once `cancel` is set. `cancel` must outlive this object.
  explicit Progress(const std::atomic<bool>& cancel) : cancel_(&cancel) {}
  virtual ~Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Begins a phase of `total` steps, such as "reading"; 0: the length is not known yet.
  virtual void begin(const std::string& phase, int64_t total) {
    static_cast<void>(phase);
    done = 0;
    total_ = std::max<int64_t>(total, 1);
  }
  virtual void end() {}
  /// A message to show immediately; one sentence.
  virtual void note(const std::string& text) { static_cast<void>(text); }

  /// Steps of the phase done so far.
  std::atomic<int64_t> done = 0;
  /// Sets both counts; a `total_now` of 0 leaves the total unchanged.
  void update(int64_t done_now, int64_t total_now) {
    done = done_now;
    if (total_now > 0) total_ = total_now;
  }
  [[nodiscard]] int64_t total() const { return total_; }

  [[nodiscard]] bool is_cancelled() const { return cancel_ != nullptr && *cancel_; }
  /// For operations that check the flag themselves; null: cannot be cancelled.
  [[nodiscard]] const std::atomic<bool>* cancel() const { return cancel_; }

 private:
  const std::atomic<bool>* cancel_ = nullptr;
  std::atomic<int64_t> total_ = 1;
};

/// A phase that lasts as long as this object.
class Phase {
 public:
  Phase(Progress& progress, const std::string& name, int64_t total = 0) : progress_(progress) {
    progress_.begin(name, total);
  }
  ~Phase() { progress_.end(); }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

 private:
  Progress& progress_;
};

}  // namespace goban::base
