// Distinguishes runs of one job (requeued, restarted) from duplicate records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/time.hpp"
#include "site/records/id_set.hpp"

namespace goban::site::records {

/// Set of (id, time) as 64-bit hashes: 11 to 22 bytes each. Two different entries collide with
/// probability 2^-64 per comparison, two times of one id with 2^-37.
class RunSet {
 public:
  /// False if it is already in the set.
  bool insert(std::string_view id, base::TimeNs moment_ns);
  [[nodiscard]] bool contains(std::string_view id, base::TimeNs moment_ns) const;

 private:
  bool insert(uint64_t hash);
  [[nodiscard]] size_t slot(uint64_t hash) const;
  void grow();

  std::vector<uint64_t> hashes_ = std::vector<uint64_t>(1024);  ///< 0 = empty
  size_t used_ = 0;
};

/// The (cluster, id, start) triples seen so far: a RunSet, and 2 bits per id.
class RunCounter {
 public:
  static constexpr int32_t kSeenBefore = -1;

  /// Which run of the job this is, from 0; kSeenBefore if this job and start were added before.
  /// Equal ids of two clusters are two jobs.
  int32_t add(std::string_view cluster, std::string_view id, base::TimeNs start_ns);
  /// The same for an id that identifies its job by itself; at least `run_min`, as a source may
  /// state earlier runs.
  int32_t add(std::string_view id, base::TimeNs start_ns, int32_t run_min = 0);

 private:
  std::optional<std::string>
      first_cluster_;  ///< its ids have no cluster name added and remain numbers
  std::string key_;
  IdSet ids_;
  RunSet starts_;
  std::unordered_map<std::string, int32_t> runs_;  ///< the last run, of ids with more than one
};

}  // namespace goban::site::records
