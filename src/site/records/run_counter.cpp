#include "site/records/run_counter.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace goban::site::records {
namespace {

uint64_t mixed(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  return x ^ x >> 32;
}

/// Locality: the upper bits select a cache line, the lower three the place in it. Consecutive
/// numbers share a line, as they arrive together, so a line is fetched once for eight of them.
uint64_t hash_in_lines(std::string_view id, base::TimeNs start_ns) {
  constexpr int kPlaceBits = 24;
  const auto start = static_cast<uint64_t>(start_ns);
  if (const auto number = IdSet::as_number(id)) {
    const uint64_t place = mixed((*number >> 3) + 1);
    const uint64_t rest = mixed(mixed(*number) + start) >> kPlaceBits;
    const uint64_t hash = place >> (64 - kPlaceBits) << (64 - kPlaceBits) | rest;
    return (hash & ~uint64_t{7}) | (*number & 7);
  }
  return mixed(mixed(std::hash<std::string_view>{}(id)) + start);
}

uint64_t hash_of(std::string_view id, base::TimeNs start_ns) {
  const uint64_t hash = hash_in_lines(id, start_ns);
  return hash == 0 ? 8 : hash;  // 0 marks an empty slot
}

}  // namespace

int32_t RunCounter::add(std::string_view cluster, std::string_view id, base::TimeNs start_ns) {
  if (!first_cluster_) first_cluster_ = cluster;
  if (cluster == *first_cluster_) return add(id, start_ns);
  key_.assign(id);
  key_ += '@';
  key_ += cluster;
  return add(key_, start_ns);
}

int32_t RunCounter::add(std::string_view id, base::TimeNs start_ns, int32_t run_min) {
  if (!starts_.insert(id, start_ns)) return kSeenBefore;
  const bool is_first = ids_.insert(id);
  if (is_first && run_min <= 0) return 0;
  int32_t& run = runs_[std::string(id)];
  run = std::max(is_first ? 0 : run + 1, run_min);
  return run;
}

bool RunSet::insert(std::string_view id, base::TimeNs moment_ns) {
  return insert(hash_of(id, moment_ns));
}

bool RunSet::contains(std::string_view id, base::TimeNs moment_ns) const {
  return hashes_[slot(hash_of(id, moment_ns))] != 0;
}

/// Slot that holds `hash`, or where it would be inserted.
size_t RunSet::slot(uint64_t hash) const {
  const size_t mask = hashes_.size() - 1;
  const int line_bits = std::countr_zero(hashes_.size()) - 3;
  size_t at = (hash >> (64 - line_bits) << 3) | (hash & 7);
  while (hashes_[at] != 0 && hashes_[at] != hash) at = (at + 1) & mask;
  return at;
}

bool RunSet::insert(uint64_t hash) {
  constexpr size_t kThird = 3;
  if ((used_ + 1) * kThird > hashes_.size() * 2) grow();
  const size_t at = slot(hash);
  if (hashes_[at] == hash) return false;
  hashes_[at] = hash;
  ++used_;
  return true;
}

void RunSet::grow() {
  std::vector<uint64_t> old(hashes_.size() * 2);
  old.swap(hashes_);
  used_ = 0;
  for (const uint64_t hash : old) {
    if (hash != 0) insert(hash);
  }
}

}  // namespace goban::site::records
