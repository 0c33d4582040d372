#include "core/staging/fast_tier.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace goban::core::staging {

void FastTier::list(const std::string& key, const Entry& entry) {
  if (may_leave(entry)) idle_.emplace(entry.used_ns, key);
}

void FastTier::unlist(const std::string& key, const Entry& entry) {
  idle_.erase({entry.used_ns, key});
}

FastTier::Verdict FastTier::admit(std::span<const DataItem> items, TimeNs now) {
  std::map<std::string, int64_t> wanted;
  for (const DataItem& item : items) {
    int64_t& bytes = wanted[item.key];
    bytes = std::max(bytes, item.bytes);
  }
  Verdict verdict;
  int64_t all_bytes = 0;
  int64_t more_bytes = 0;
  bool is_leaving = false;
  for (const auto& [key, bytes] : wanted) {
    all_bytes += bytes;
    const auto found = entries_.find(key);
    if (found == entries_.end()) {
      verdict.missing_bytes += bytes;
      more_bytes += bytes;
      continue;
    }
    is_leaving = is_leaving || found->second.is_leaving;
    if (!found->second.is_there) verdict.missing_bytes += bytes;
    more_bytes += std::max<int64_t>(bytes - found->second.bytes, 0);
  }
  if (all_bytes > capacity_bytes_) return {.admission = Admission::TooLarge};
  if (is_leaving) return {};

  int64_t leaving_bytes = 0;
  for (const auto& [key, entry] : entries_) {
    if (entry.is_leaving) leaving_bytes += entry.bytes;
  }
  int64_t excess_bytes = used_bytes_ - leaving_bytes + more_bytes - capacity_bytes_;
  for (const auto& [used_ns, key] : idle_) {
    if (excess_bytes <= 0) break;
    if (wanted.contains(key)) continue;
    excess_bytes -= entries_.at(key).bytes;
    verdict.leaving.push_back(key);
  }
  if (excess_bytes > 0) return {};

  verdict.admission = Admission::Admitted;
  for (const std::string& key : verdict.leaving) {
    Entry& entry = entries_.at(key);
    unlist(key, entry);
    entry.is_leaving = true;
  }
  for (const auto& [key, bytes] : wanted) {
    Entry& entry = entries_[key];
    unlist(key, entry);
    used_bytes_ += std::max<int64_t>(bytes - entry.bytes, 0);
    entry.bytes = std::max(entry.bytes, bytes);
    entry.used_ns = now;
    ++entry.users;
  }
  return verdict;
}

void FastTier::arrived(const std::string& key) {
  const auto found = entries_.find(key);
  if (found != entries_.end()) found->second.is_there = true;
}

void FastTier::left(const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  GOBAN_CHECK(found->second.users == 0, "data in use was removed");
  unlist(key, found->second);
  used_bytes_ -= found->second.bytes;
  entries_.erase(found);
}

void FastTier::stays(const std::string& key, TimeNs now) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || !found->second.is_leaving) return;
  found->second.is_leaving = false;
  found->second.used_ns = now;
  list(key, found->second);
}

void FastTier::release(const std::string& key, TimeNs now) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.users == 0) return;
  Entry& entry = found->second;
  --entry.users;
  entry.used_ns = std::max(entry.used_ns, now);
  list(key, entry);
}

void FastTier::restore(const std::string& key, const Entry& entry) {
  if (!entries_.emplace(key, entry).second) return;
  used_bytes_ += entry.bytes;
  list(key, entry);
}

bool FastTier::has(const std::string& key) const {
  const auto found = entries_.find(key);
  return found != entries_.end() && found->second.is_there && !found->second.is_leaving;
}

}  // namespace goban::core::staging
