// A set of small dense numbers (nodes, islands) with fast "lowest member" and "next member".
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace goban::core::model {

/// Two-level bitset over [0, size). All operations except construction cost at most O(size / 4096).
class DomainSet {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit DomainSet(size_t size) : words_((size + 63) / 64), summary_((words_.size() + 63) / 64) {}

  void insert(uint32_t member) {
    const size_t word = member / 64;
    words_[word] |= bit(member);
    summary_[word / 64] |= bit(static_cast<uint32_t>(word));
  }
  void erase(uint32_t member) {
    const size_t word = member / 64;
    words_[word] &= ~bit(member);
    if (words_[word] == 0) summary_[word / 64] &= ~bit(static_cast<uint32_t>(word));
  }
  [[nodiscard]] bool contains(uint32_t member) const {
    return (words_[member / 64] & bit(member)) != 0;
  }

  /// Lowest member, or kNone.
  [[nodiscard]] uint32_t first() const { return first_in_words_from(0); }

  /// Lowest member >= from, or kNone.
  [[nodiscard]] uint32_t first_from(uint32_t from) const {
    const size_t word = from / 64;
    if (word >= words_.size()) return kNone;
    const uint64_t rest = words_[word] & (~uint64_t{0} << (from % 64));
    if (rest != 0) return static_cast<uint32_t>(word * 64) + lowest(rest);
    return first_in_words_from(word + 1);
  }

 private:
  static uint64_t bit(uint32_t member) { return uint64_t{1} << (member % 64); }
  static uint32_t lowest(uint64_t word) { return static_cast<uint32_t>(std::countr_zero(word)); }

  [[nodiscard]] uint32_t first_in_words_from(size_t word) const {
    size_t block = word / 64;
    if (block >= summary_.size()) return kNone;
    uint64_t candidates = summary_[block] & (~uint64_t{0} << (word % 64));
    while (candidates == 0) {
      if (++block == summary_.size()) return kNone;
      candidates = summary_[block];
    }
    const size_t found = block * 64 + lowest(candidates);
    return static_cast<uint32_t>(found * 64) + lowest(words_[found]);
  }

  std::vector<uint64_t> words_;
  std::vector<uint64_t> summary_;
};

}  // namespace goban::core::model
