#include "site/store/write_queue.hpp"

#include <utility>

namespace goban::site::store {

using base::Status;

WriteQueue::~WriteQueue() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    tasks_.clear();
  }
  changed_.notify_all();
  thread_.join();
}

Status WriteQueue::push(Task task) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return tasks_.size() < kTasksMax; });
  if (!status_) return status_;
  tasks_.push_back(std::move(task));
  lock.unlock();
  changed_.notify_all();
  return {};
}

Status WriteQueue::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return tasks_.empty() && !busy_; });
  return status_;
}

void WriteQueue::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || !tasks_.empty(); });
    if (ends_) return;
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    if (!status_) {
      changed_.notify_all();
      continue;
    }
    busy_ = true;
    lock.unlock();
    changed_.notify_all();
    Status status = task();
    lock.lock();
    status_ = std::move(status);
    busy_ = false;
    changed_.notify_all();
  }
}

void QueuedWriter::text(std::string_view value) {
  block_->cells.push_back({.kind = Kind::Text, .bytes = static_cast<uint32_t>(value.size())});
  block_->texts += value;
}

Status QueuedWriter::end_row() {
  block_->cells.push_back({.kind = Kind::EndOfRow});
  return ++rows_ < kRowsOfBlock ? Status() : push_block();
}

std::unique_ptr<QueuedWriter::Block> QueuedWriter::Pool::take() {
  const std::lock_guard lock(mutex_);
  if (blocks_.empty()) return std::make_unique<Block>();
  auto block = std::move(blocks_.back());
  blocks_.pop_back();
  return block;
}

void QueuedWriter::Pool::give_back(std::unique_ptr<Block> block) {
  block->cells.clear();
  block->texts.clear();
  const std::lock_guard lock(mutex_);
  blocks_.push_back(std::move(block));
}

Status QueuedWriter::push_block() {
  rows_ = 0;
  // A task must be copyable; a unique_ptr is not.
  auto block = std::make_shared<std::unique_ptr<Block>>(std::exchange(block_, pool_->take()));
  return queue_.push([block, writer = writer_, pool = pool_] {
    auto status = replay(**block, *writer);
    pool->give_back(std::move(*block));
    return status;
  });
}

Status QueuedWriter::flush() {
  if (rows_ > 0) {
    if (auto status = push_block(); !status) return status;
  }
  return queue_.push([writer = writer_] { return writer->flush(); });
}

Status QueuedWriter::replay(const Block& block, BulkWriter& out) {
  const char* text = block.texts.data();
  for (const Cell& cell : block.cells) {
    switch (cell.kind) {
      case Kind::Null:
        out.null();
        break;
      case Kind::Whole:
        out.whole(cell.whole);
        break;
      case Kind::Real:
        out.real(std::bit_cast<double>(cell.whole));
        break;
      case Kind::Text:
        out.text({text, cell.bytes});
        text += cell.bytes;
        break;
      case Kind::EndOfRow:
        if (auto status = out.end_row(); !status) return status;
    }
  }
  return {};
}

}  // namespace goban::site::store
