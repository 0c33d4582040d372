// Tells runs of one job (requeued, restarted) from records that come twice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/time.hpp"
#include "records/id_set.hpp"

namespace goban::records {

/// Knows the (cluster, id, start) triples so far as 64-bit hashes: 2 bits and 11 to 22 bytes a
/// record. Two different ones are taken for one with probability 2^-64 a comparison, two runs of
/// one job with 2^-37.
class RunCounter {
 public:
  static constexpr int32_t kSeenBefore = -1;

  /// Which run of the job this is, from 0; kSeenBefore if a record of this job and start was there.
  /// Equal ids of two clusters are two jobs.
  int32_t add(std::string_view cluster, std::string_view id, base::TimeNs start_ns);

 private:
  int32_t add(std::string_view id, base::TimeNs start_ns);
  bool insert(uint64_t hash);
  void grow();

  std::optional<std::string> first_cluster_;  ///< its ids go without its name and stay numbers
  std::string key_;
  IdSet ids_;
  std::vector<uint64_t> hashes_ = std::vector<uint64_t>(1024);  ///< 0 = empty
  size_t used_ = 0;
  std::unordered_map<std::string, int32_t> runs_;  ///< of the ids that came again
};

}  // namespace goban::records
