#include "records/run_counter.hpp"

#include <bit>
#include <functional>

namespace goban::records {
namespace {

uint64_t mixed(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  return x ^ x >> 32;
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

int32_t RunCounter::add(std::string_view id, base::TimeNs start_ns) {
  const uint64_t id_hash = std::hash<std::string_view>{}(id);
  const uint64_t hash = mixed(mixed(id_hash) + static_cast<uint64_t>(start_ns));
  if (!insert(hash == 0 ? 1 : hash)) return kSeenBefore;
  if (ids_.insert(id)) return 0;
  return ++runs_[std::string(id)];
}

bool RunCounter::insert(uint64_t hash) {
  constexpr size_t kThird = 3;
  if ((used_ + 1) * kThird > hashes_.size() * 2) grow();
  const size_t mask = hashes_.size() - 1;
  size_t at = hash >> (64 - std::countr_zero(hashes_.size()));
  while (hashes_[at] != 0) {
    if (hashes_[at] == hash) return false;
    at = (at + 1) & mask;
  }
  hashes_[at] = hash;
  ++used_;
  return true;
}

void RunCounter::grow() {
  std::vector<uint64_t> old(hashes_.size() * 2);
  old.swap(hashes_);
  used_ = 0;
  for (const uint64_t hash : old) {
    if (hash != 0) insert(hash);
  }
}

}  // namespace goban::records
