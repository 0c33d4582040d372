// The job ids seen so far, to detect duplicates: compact for millions of consecutive numbers.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace goban::site::records {

/// Set of ids. A number without leading zeros is one bit in a hash table of 64-bit words (two bits
/// of memory per id if ids are dense, 32 bytes if scattered); any other text is stored as it is.
class IdSet {
 public:
  [[nodiscard]] bool contains(std::string_view id) const {
    if (const auto number = as_number(id)) {
      const Word& word = words_[slot(*number >> 6)];
      return (word.bits >> (*number & 63) & 1) != 0;
    }
    return texts_.contains(id);
  }

  /// False if it is already in the set.
  bool insert(std::string_view id) {
    const auto number = as_number(id);
    if (!number) return texts_.emplace(id).second;
    size_t at = slot(*number >> 6);
    if (words_[at].bits == 0) {
      if (++used_ * 2 > words_.size()) {
        grow();
        at = slot(*number >> 6);
      }
      words_[at].key = *number >> 6;
    }
    const uint64_t bit = uint64_t{1} << (*number & 63);
    const bool is_new = (words_[at].bits & bit) == 0;
    words_[at].bits |= bit;
    return is_new;
  }

  /// The number that an id consists of; none if it has leading zeros, a sign, or more than 19
  /// digits.
  static std::optional<uint64_t> as_number(std::string_view id) {
    if (id.empty() || id.size() > 19 || (id[0] == '0' && id.size() > 1)) return std::nullopt;
    uint64_t number = 0;
    for (const char c : id) {
      if (c < '0' || c > '9') return std::nullopt;
      number = number * 10 + static_cast<uint64_t>(c - '0');
    }
    return number;
  }

 private:
  struct Word {
    uint64_t key = 0;
    uint64_t bits = 0;  ///< 0 = the slot is empty
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  /// Slot that holds `key`, or where it would be inserted.
  [[nodiscard]] size_t slot(uint64_t key) const {
    const size_t mask = words_.size() - 1;
    size_t at = (key * 0x9e3779b97f4a7c15ULL) >> (64 - std::countr_zero(words_.size()));
    while (words_[at].bits != 0 && words_[at].key != key) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    std::vector<Word> old(words_.size() * 2);
    old.swap(words_);
    for (const Word& word : old) {
      if (word.bits != 0) words_[slot(word.key)] = word;
    }
  }

  std::vector<Word> words_ = std::vector<Word>(1024);
  size_t used_ = 0;
  std::unordered_set<std::string, Hash, std::equal_to<>> texts_;
};

}  // namespace goban::site::records
