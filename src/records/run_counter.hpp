// Tells runs of one job (requeued, restarted) from records that come twice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/time.hpp"
#include "records/id_set.hpp"

namespace goban::records {

/// Knows the (id, start) pairs so far as 64-bit hashes: 2 bits and 11 to 22 bytes a record. Two
/// different pairs are taken for one with probability 2^-64 a comparison.
class RunCounter {
 public:
  static constexpr int32_t kSeenBefore = -1;

  /// Which run of the job this is, from 0; kSeenBefore if a record of this id and start was there.
  int32_t add(std::string_view id, base::TimeNs start_ns);

 private:
  bool insert(uint64_t hash);
  void grow();

  IdSet ids_;
  std::vector<uint64_t> hashes_ = std::vector<uint64_t>(1024);  ///< 0 = empty
  size_t used_ = 0;
  std::unordered_map<std::string, int32_t> runs_;  ///< of the ids that came again
};

}  // namespace goban::records
