// Retention of old years: first jobs, then sums by day and user, then nothing.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "site/store/schema.hpp"
#include "site/store/sql.hpp"
#include "site/store/stored_names.hpp"

namespace goban::site::store {

/// Sums over the jobs of one day (UTC, of their submission), user, account, partition, resource
/// type and state.
struct DailySum {
  int64_t day = 0;  ///< since 1970-01-01
  std::string_view user, account, partition, resource_type;
  int64_t state = 0;  ///< records::RecordedState
  int64_t jobs = 0;
  int64_t ran = 0;    ///< of them: started
  double gpu_s = 0;   ///< GPUs times run time; parts of GPUs are counted as parts
  double node_s = 0;  ///< nodes times run time
  double wait_s = 0;  ///< from submission to start, of the started ones
};

/// Years that are reduced to sums, ascending.
[[nodiscard]] base::Result<std::vector<int>> reduced_years(SqlConnection& connection);
/// Replaces the jobs of a year by their sums, and deletes their hook records. Can be repeated after
/// an interruption: the sums are recomputed while the jobs exist.
[[nodiscard]] base::Status reduce_year(SqlConnection& connection, int year);
/// Removes jobs, sums and all other data of the years before.
[[nodiscard]] base::Result<std::vector<int>> drop_years_before(SqlConnection& connection, int year,
                                                               int fiscal_month);
/// Passes the sums of all years by day, computed from jobs where they exist. Errors: Failed.
[[nodiscard]] base::Status read_daily_sums(SqlConnection& connection, const StoredNames& names,
                                           const std::function<void(const DailySum&)>& take);

}  // namespace goban::site::store
