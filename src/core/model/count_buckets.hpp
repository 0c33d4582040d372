// Domains (nodes, islands) indexed by their number of items: "lowest node with exactly 3 free".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/domain_set.hpp"

namespace goban::core::model {

/// Counts of 0..max per domain, and for each count the set of domains that have it.
class CountBuckets {
 public:
  CountBuckets(size_t num_domains, uint32_t count_max) : counts_(num_domains) {
    for (uint32_t count = 0; count <= count_max; ++count) buckets_.emplace_back(num_domains);
    for (uint32_t domain = 0; domain < num_domains; ++domain) buckets_[0].insert(domain);
  }

  void increment(uint32_t domain) { move(domain, static_cast<uint8_t>(counts_[domain] + 1)); }
  void decrement(uint32_t domain) { move(domain, static_cast<uint8_t>(counts_[domain] - 1)); }
  void set(uint32_t domain, uint32_t count) { move(domain, static_cast<uint8_t>(count)); }

  [[nodiscard]] uint32_t count(uint32_t domain) const { return counts_[domain]; }
  /// By domain.
  [[nodiscard]] std::span<const uint8_t> counts() const { return counts_; }
  [[nodiscard]] uint32_t count_max() const { return static_cast<uint32_t>(buckets_.size() - 1); }
  [[nodiscard]] size_t num_domains() const { return counts_.size(); }

  /// Domains with exactly `count` items; count <= count_max().
  [[nodiscard]] const DomainSet& with(uint32_t count) const { return buckets_[count]; }

  /// Lowest domain among those with the most items, if these are at least `least`; otherwise kNone.
  [[nodiscard]] uint32_t fullest(uint32_t least) const {
    for (uint32_t count = count_max() + 1; count-- > least;) {
      if (const uint32_t found = buckets_[count].first(); found != DomainSet::kNone) return found;
    }
    return DomainSet::kNone;
  }

  /// Lowest domain among those with the fewest items >= `least`; otherwise kNone.
  [[nodiscard]] uint32_t tightest(uint32_t least) const {
    for (uint32_t count = least; count <= count_max(); ++count) {
      if (const uint32_t found = buckets_[count].first(); found != DomainSet::kNone) return found;
    }
    return DomainSet::kNone;
  }

 private:
  void move(uint32_t domain, uint8_t count) {
    buckets_[counts_[domain]].erase(domain);
    counts_[domain] = count;
    buckets_[count].insert(domain);
  }

  std::vector<uint8_t> counts_;
  std::vector<DomainSet> buckets_;
};

}  // namespace goban::core::model
