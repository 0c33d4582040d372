// The waiting jobs in queue order, with a search for the next one that fits a gap. Sorted blocks:
// appending and popping are cheap, and blocks without a suitable job are skipped.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/policy/order/queue_order.hpp"
#include "core/policy/select/select.hpp"

namespace goban::core::scheduler {

using base::TimeNs;
using policy::OrderKey;

/// Shapes of jobs that need not be tried again in a decision. Jobs of one shape have equal
/// requests.
class ShapeMarks {
 public:
  enum class Mark : uint8_t { Try, SkipLong, Skip };

  void set(uint32_t shape, Mark mark) {
    if (shape >= marks_.size()) marks_.resize(shape + 1, Mark::Try);
    marks_[shape] = std::max(marks_[shape], mark);
    if (mark == Mark::Skip && shape < kOwnBits) skipped_ |= uint64_t{1} << shape;
  }
  [[nodiscard]] Mark of(uint32_t shape) const {
    return shape < marks_.size() ? marks_[shape] : Mark::Try;
  }
  /// Clears SkipLong: shapes that were only too long may fit again.
  void forget_long() { std::ranges::replace(marks_, Mark::SkipLong, Mark::Try); }
  void clear() {
    marks_.clear();
    skipped_ = 0;
  }
  /// The shapes to skip, one bit per shape as in bit().
  [[nodiscard]] uint64_t skipped() const { return skipped_; }
  /// Shapes from kOwnBits on share the last bit, which is never skipped.
  [[nodiscard]] static uint64_t bit(uint32_t shape) {
    return uint64_t{1} << std::min(shape, kOwnBits);
  }

 private:
  static constexpr uint32_t kOwnBits = 63;
  std::vector<Mark> marks_;
  uint64_t skipped_ = 0;
};

class WaitQueue {
 public:
  struct Entry {
    OrderKey key;
    uint32_t slot = 0;  ///< of the JobState
    int32_t gpus = 0;
    uint32_t shape = 0;
    /// Lower bound of the job's run time.
    TimeNs duration_ns = 0;
  };

  void insert(const Entry& entry);
  /// The entry must exist.
  void erase(const OrderKey& key);

  /// Removes and returns all entries, in queue order.
  [[nodiscard]] std::vector<Entry> take_all();
  /// Fills the empty queue with sorted entries.
  void assign(std::span<const Entry> sorted);

  /// The entry with this key, or null.
  [[nodiscard]] const Entry* find(const OrderKey& key) const;
  /// First entry, or first entry after `key`; null if none. Valid until the next change.
  [[nodiscard]] const Entry* first() const;
  [[nodiscard]] const Entry* after(const OrderKey& key) const;
  /// First entry after `key` with gpus <= free that is short enough or fits the spare GPUs, and
  /// whose shape is not skipped; SkipLong skips those that are not short enough.
  [[nodiscard]] const Entry* after_fitting(const OrderKey& key, const policy::Gap& gap,
                                           const ShapeMarks& marks = {}) const;

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] size_t count_without_gpus() const { return without_gpus_; }

 private:
  static constexpr size_t kBlockMax = 512;
  /// Per block, the shortest duration is kept by size group: 0, 1, 2, 3-4, 5-8, ... GPUs.
  static constexpr size_t kSizeGroups = 33;

  struct Block {
    std::vector<Entry> entries;  ///< [begin, end) by key; entries before `begin` were removed
    size_t begin = 0;
    mutable bool stale = true;
    mutable std::array<TimeNs, kSizeGroups> shortest{};
    mutable uint32_t groups_end = 0;  ///< largest group in use + 1
    mutable uint64_t shapes = 0;      ///< ShapeMarks::bit of each
  };

  static size_t size_group(int32_t gpus);
  static void refresh(const Block& block);
  static bool may_fit(const Block& block, const policy::Gap& gap);
  /// Index of the block in which `key` is or belongs.
  [[nodiscard]] size_t block_of(const OrderKey& key) const;
  void split(size_t at);
  Block& append_block();

  std::vector<Block> blocks_;  ///< not empty
  std::vector<Entry> spare_;   ///< storage of the last block that became empty
  size_t size_ = 0;
  size_t without_gpus_ = 0;
};

}  // namespace goban::core::scheduler
