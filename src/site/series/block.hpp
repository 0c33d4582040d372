// A block: the samples of one series over up to a day, packed by clock hour.
//
//   head       25 bytes: series, step, start, slots, jitter, bytes of a code in the directory
//   directory  per hour: flags, min, max, sum, and number of slots with marks instead of values
//   data       per hour: (code - min) of every slot in the fewest bits, then the marks as runs
//   8 zero bytes, so that codes can be unpacked by 64-bit reads
//
// An hour of one constant value takes two bytes. The directory is a zone map: min, max, sum and
// count of an hour are read without unpacking it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "site/series/codes.hpp"

namespace goban::site::series {

using base::ByteReader;
using base::put;
using base::put_text;
using base::put_varint;

inline constexpr int64_t kHour_ms = 3'600'000;
inline constexpr int64_t kDay_ms = 24 * kHour_ms;
inline constexpr uint32_t kSlotsMax = 1U << 20;

/// Slot i was sampled at start_ms + i * step_ms, +/- jitter_ms.
struct BlockHead {
  uint32_t series = 0;
  uint32_t step_ms = 0;
  int64_t start_ms = 0;
  uint32_t slots = 0;
  uint32_t jitter_ms = 0;

  /// Time of the last slot.
  [[nodiscard]] int64_t last_ms() const { return start_ms + int64_t{slots - 1} * int64_t{step_ms}; }
};

/// Appends a block of codes (head.slots of them, at least one; values at most code_max).
void append_block(std::string& out, const BlockHead& head, std::span<const uint16_t> codes,
                  uint16_t code_max);

/// The slots of one clock hour.
struct Hour {
  size_t first = 0;  ///< slot
  size_t count = 0;
  uint16_t min = 0;  ///< of the values, as are max and sum; 0 if there are none
  uint16_t max = 0;
  uint64_t sum = 0;
  uint64_t values = 0;
  uint64_t not_available = 0;
  uint64_t stale = 0;
  unsigned width = 0;  ///< bits of a packed code
  std::span<const uint8_t> packed;
  std::span<const uint8_t> marks;
};

/// Reads a block in place; the bytes must outlive the view.
class BlockView {
 public:
  /// The head alone, without reading the remainder; none if it is invalid.
  [[nodiscard]] static std::optional<BlockHead> head_of(std::span<const uint8_t> bytes);
  /// None if the head or the sizes are invalid.
  [[nodiscard]] static std::optional<BlockView> parse(std::span<const uint8_t> bytes);

  [[nodiscard]] const BlockHead& head() const { return head_; }
  /// First slot at or after a time, and one past the last slot at or before a time; both are within
  /// [0, slots].
  [[nodiscard]] static size_t slot_from(const BlockHead& head, int64_t time_ms);
  [[nodiscard]] static size_t slot_to(const BlockHead& head, int64_t time_ms);

  /// Calls visit(const Hour&) for the hours in order until it returns false. Returns false if the
  /// block is damaged.
  template <typename Visit>
  bool for_each_hour(const Visit& visit) const {
    Walk walk(*this);
    while (walk.next()) {
      if (!visit(walk.hour())) return true;
    }
    return !walk.damaged();
  }

  /// Adds slots [from, to) to the counts; false if the block is damaged.
  bool count(size_t from, size_t to, CodeCounts& counts) const;
  /// All codes; false if the block is damaged.
  bool decode(std::vector<uint16_t>& out) const;

 private:
  /// Iterates over directory and data in parallel.
  class Walk {
   public:
    explicit Walk(const BlockView& block);
    bool next();
    [[nodiscard]] const Hour& hour() const { return hour_; }
    [[nodiscard]] bool damaged() const { return damaged_; }

   private:
    bool read_entry();
    const BlockView& block_;
    ByteReader directory_;
    ByteReader data_;
    Hour hour_;
    size_t next_slot_ = 0;
    bool damaged_ = false;
  };

  BlockHead head_;
  unsigned code_bytes_ = 1;
  std::span<const uint8_t> directory_;
  std::span<const uint8_t> data_;
};

/// Unpacks the codes of an hour, marks included; out has hour.count elements. False if damaged.
bool unpack(const Hour& hour, std::span<uint16_t> out);

}  // namespace goban::site::series
