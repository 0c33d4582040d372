// A thread that writes while the reader continues: rows are queued in blocks, statements in
// between.
#pragma once

#include <bit>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "site/store/sql.hpp"

namespace goban::site::store {

/// Runs tasks in order on a thread; after a failure no further ones. The connection that tasks use
/// belongs to that thread until wait() has returned.
class WriteQueue {
 public:
  using Task = std::function<base::Status()>;

  WriteQueue() : thread_([this] { run(); }) {}
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;
  /// Tasks that have not started are dropped.
  ~WriteQueue();

  /// Waits while kTasksMax tasks are queued. Errors: the first failure so far.
  [[nodiscard]] base::Status push(Task task);
  /// Waits until all tasks are done. Errors: the first failure.
  [[nodiscard]] base::Status wait();

 private:
  static constexpr size_t kTasksMax = 256;
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  base::Status status_;
  bool busy_ = false;
  bool ends_ = false;
  std::thread thread_;  ///< last: it uses the other members
};

/// Collects rows and has the queue's thread pass them to another writer.
class QueuedWriter final : public BulkWriter {
 public:
  QueuedWriter(WriteQueue& queue, std::unique_ptr<BulkWriter> writer)
      : queue_(queue), writer_(std::move(writer)), block_(std::make_unique<Block>()) {}

  void null() override { block_->cells.push_back({.kind = Kind::Null}); }
  void whole(int64_t value) override {
    block_->cells.push_back({.kind = Kind::Whole, .whole = value});
  }
  void real(double value) override {
    block_->cells.push_back({.kind = Kind::Real, .whole = std::bit_cast<int64_t>(value)});
  }
  void text(std::string_view value) override;
  [[nodiscard]] base::Status end_row() override;
  /// Only queues the flush; WriteQueue::wait() returns its status.
  [[nodiscard]] base::Status flush() override;

 private:
  enum class Kind : uint8_t { Null, Whole, Real, Text, EndOfRow };
  struct Cell {
    Kind kind = Kind::Null;
    uint32_t bytes = 0;  ///< of a text
    int64_t whole = 0;   ///< the bits of a Real
  };
  struct Block {
    std::vector<Cell> cells;
    std::string texts;  ///< texts, stored consecutively
  };
  /// Written blocks that can be reused: new memory for each would cost page faults.
  class Pool {
   public:
    std::unique_ptr<Block> take();
    void give_back(std::unique_ptr<Block> block);

   private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<Block>> blocks_;
  };
  static base::Status replay(const Block& block, BulkWriter& out);
  [[nodiscard]] base::Status push_block();

  static constexpr int kRowsOfBlock = 128;  // about 120 KiB: stays in a core's cache
  WriteQueue& queue_;
  std::shared_ptr<BulkWriter> writer_;
  std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();
  std::unique_ptr<Block> block_;
  int rows_ = 0;
};

}  // namespace goban::site::store
