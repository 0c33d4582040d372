// The waiting jobs in queue order, with a search for the next one that fits a gap. Sorted blocks:
// appending and popping are cheap, and blocks, or whole sections of them, without a suitable job
// are skipped.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
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
  /// Shapes from here on share a bit.
  static constexpr uint32_t kShared = 63;

  void set(uint32_t shape, Mark mark) {
    if (shape >= marks_.size()) marks_.resize(shape + 1, Mark::Try);
    marks_[shape] = std::max(marks_[shape], mark);
    if (mark == Mark::Skip && shape < kShared) skipped_ |= uint64_t{1} << shape;
  }
  [[nodiscard]] Mark of(uint32_t shape) const {
    return shape < marks_.size() ? marks_[shape] : Mark::Try;
  }
  /// Jobs of the shape whose duration scales with the slowdown take 1 / `share` times their
  /// shortest duration on the GPUs that they would get now.
  void set_share(uint32_t shape, double share) {
    if (shape >= kShared) return;
    if (shape >= shares_.size()) shares_.resize(shape + 1, 1);
    shares_[shape] = share;
    with_share_ |= uint64_t{1} << shape;
  }
  [[nodiscard]] bool has_shares() const { return with_share_ != 0; }
  /// Jobs of these shapes (see bit()) do not end within `gap_ns` if their shortest duration is
  /// longer than this.
  [[nodiscard]] TimeNs longest_ns(uint64_t shapes, TimeNs gap_ns) const;
  /// Forgets what holds only until a job starts: SkipLong, as shapes that were only too long may
  /// fit again, and the shares.
  void forget_long() {
    std::ranges::replace(marks_, Mark::SkipLong, Mark::Try);
    with_share_ = 0;
  }
  void clear() {
    marks_.clear();
    skipped_ = with_share_ = 0;
  }
  /// The shapes to skip, one bit per shape as in bit().
  [[nodiscard]] uint64_t skipped() const { return skipped_; }
  /// Shapes from kShared on share the last bit, which is never skipped.
  [[nodiscard]] static uint64_t bit(uint32_t shape) {
    return uint64_t{1} << std::min(shape, kShared);
  }

 private:
  std::vector<Mark> marks_;
  std::vector<double> shares_;
  uint64_t skipped_ = 0;
  uint64_t with_share_ = 0;
};

class WaitQueue {
 public:
  struct Entry {
    OrderKey key;
    uint32_t slot = 0;  ///< of the JobState
    int32_t gpus = 0;
    uint32_t shape = 0;
    /// The run time is proportional to the slowdown, and `duration_ns` that at the lowest one that
    /// jobs of this shape can have.
    bool scales = false;
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
  /// Calls `visit(entry)` for the first entries in queue order until it returns false. The queue
  /// must not change meanwhile.
  template <typename Visit>
  void visit(const Visit& visit) const {
    for (const Block& block : blocks_) {
      for (size_t i = block.begin; i < block.entries.size(); ++i) {
        if (!visit(block.entries[i])) return;
      }
    }
  }
  /// First entry after `key` with gpus <= free that is short enough or fits the spare GPUs, and
  /// whose shape is not skipped; SkipLong skips those that are not short enough.
  [[nodiscard]] const Entry* after_fitting(const OrderKey& key, const policy::Gap& gap,
                                           const ShapeMarks& marks = {}) const;

  /// Number of entries after `from` up to `to`; may stop counting above `most`.
  [[nodiscard]] size_t count(const OrderKey& from, const OrderKey& to, size_t most) const;

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] size_t count_without_gpus() const { return without_gpus_; }

 private:
  static constexpr size_t kBlockMax = 128;
  static constexpr size_t kSectionBlocks = 32;
  /// 0 to 8 GPUs, then 9-16, 17-32, ... GPUs.
  static constexpr size_t kSizeGroups = 37;

  /// What a search must know of many entries: shortest duration and smallest size by size group,
  /// and the shapes (ShapeMarks::bit of each).
  class Summary {
   public:
    void clear();
    void add(const Entry& entry);
    void add(const Summary& other);
    /// False if none of the entries fits. `longest`: by size group, the longest duration that
    /// may end in time.
    [[nodiscard]] bool may_fit(const policy::Gap& gap, uint64_t skipped_shapes,
                               const std::array<TimeNs, kSizeGroups>& longest) const;

   private:
    void add(size_t group, TimeNs shortest, int32_t smallest);

    std::array<TimeNs, kSizeGroups> shortest_{};
    std::array<int32_t, kSizeGroups> smallest_{};  ///< INT32_MAX: no entry of the group
    uint32_t groups_end_ = 0;                      ///< largest group in use + 1
    uint64_t shapes_ = 0;
  };
  struct Block {
    std::vector<Entry> entries;  ///< [begin, end) by key; entries before `begin` were removed
    size_t begin = 0;
    mutable bool stale = true;
    mutable Summary summary{};
  };
  /// kSectionBlocks adjacent blocks, the last one fewer.
  struct Section {
    bool stale = true;
    Summary summary{};
  };

  /// Index of the block in which `key` is or belongs.
  [[nodiscard]] size_t block_of(const OrderKey& key) const;
  [[nodiscard]] const Summary& summary_of(const Block& block) const;
  [[nodiscard]] const Summary& summary_of_section(size_t section) const;
  void split(size_t at);
  Block& append_block();
  /// The block has another entry.
  void note_added(size_t at, const Entry& entry);
  void note_changed(size_t at);
  /// Blocks from this index on have other indices.
  void note_shifted(size_t at);

  /// The longest duration that may end within the gap, by size group.
  [[nodiscard]] std::array<TimeNs, kSizeGroups> longest_by_group(const policy::Gap& gap,
                                                                 const ShapeMarks& marks) const;

  std::deque<Block> blocks_;  ///< not empty, but the only one of an empty queue
  mutable std::vector<Section> sections_;
  std::vector<Entry> spare_;  ///< storage of the last block that became empty
  /// The shapes of all entries so far (ShapeMarks::bit), by size group; the last bit for entries
  /// that do not scale.
  std::array<uint64_t, kSizeGroups> group_shapes_{};
  size_t size_ = 0;
  size_t without_gpus_ = 0;
};

}  // namespace goban::core::scheduler
