// Reads back what a live scheduler stored of its jobs (AccountingRecord::details), for their
// owners.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "site/store/sql.hpp"

namespace goban::site::store {

/// Which jobs; only those with details are found.
struct DetailsQuery {
  struct Job {
    int64_t number = 0;
    int64_t task = -1;  ///< -1: the job, or all tasks of the array
  };
  std::string cluster{};
  std::string user{};       ///< empty = all
  std::vector<Job> jobs{};  ///< empty = all. If a number was used again, the latest submission
  std::optional<base::TimeNs> from_ns{};  ///< ended at or after
  std::optional<base::TimeNs> to_ns{};    ///< ended before
  int64_t limit = 1'000;                  ///< at most this many: those that ended last
};

/// The details of the jobs, by end time, the latest first. Cost: an index lookup if jobs or a user
/// are given, otherwise it reads all jobs. Errors: Failed.
[[nodiscard]] base::Result<std::vector<std::string>> read_details(SqlConnection& connection,
                                                                  const DetailsQuery& query);

}  // namespace goban::site::store
