// The waiting jobs in queue order, with a search for the next one that fits a gap. Sorted blocks:
// cheap to append and to pop, and a block that holds nothing suitable is passed over whole.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "policy/select/select.hpp"

namespace goban::scheduler {

using base::TimeNs;
using policy::OrderKey;

class WaitQueue {
 public:
  struct Entry {
    OrderKey key;
    uint32_t slot = 0;  ///< of the JobState
    int32_t gpus = 0;
    /// Lower bound of how long the job will run.
    TimeNs duration_ns = 0;
  };

  void insert(const Entry& entry);
  /// The entry is there.
  void erase(const OrderKey& key);

  /// Empties the queue; in queue order.
  [[nodiscard]] std::vector<Entry> take_all();
  /// Fills the empty queue with entries in order.
  void assign(std::span<const Entry> sorted);

  /// The entry with that key, or null.
  [[nodiscard]] const Entry* find(const OrderKey& key) const;
  /// First entry, first entry behind `key`, or null. Pointers die with the next change.
  [[nodiscard]] const Entry* first() const;
  [[nodiscard]] const Entry* after(const OrderKey& key) const;
  /// First entry behind `key` with gpus <= free that is short enough or fits the spare GPUs.
  [[nodiscard]] const Entry* after_fitting(const OrderKey& key, const policy::Gap& gap) const;

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] size_t count_without_gpus() const { return without_gpus_; }

 private:
  static constexpr size_t kBlockMax = 512;
  /// Sizes 0, 1, 2, 3-4, 5-8, ... share a shortest duration per block.
  static constexpr size_t kSizeGroups = 33;

  struct Block {
    std::vector<Entry> entries;  ///< [begin, end) by key; entries before `begin` are gone
    size_t begin = 0;
    mutable bool stale = true;
    mutable std::array<TimeNs, kSizeGroups> shortest{};
    mutable uint32_t groups_end = 0;  ///< one behind the largest group in use
  };

  static size_t size_group(int32_t gpus);
  static void refresh(const Block& block);
  static bool may_fit(const Block& block, const policy::Gap& gap);
  /// Index of the block in which `key` is or belongs.
  [[nodiscard]] size_t block_of(const OrderKey& key) const;
  void split(size_t at);
  Block& append_block();

  std::vector<Block> blocks_;  ///< none is empty
  std::vector<Entry> spare_;   ///< storage of the block that emptied last
  size_t size_ = 0;
  size_t without_gpus_ = 0;
};

}  // namespace goban::scheduler
