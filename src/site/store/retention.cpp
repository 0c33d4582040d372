#include "site/store/retention.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace goban::site::store {
namespace {

using base::Result;
using base::Status;

constexpr std::string_view kDailyColumns =
    "day,user_id,account_id,partition_id,resource_type_id,state,jobs,ran,gpu_s,node_s,wait_s";

/// SELECT of the sums over a year's jobs, in the order of kDailyColumns.
std::string sums_of(Dialect dialect, int year) {
  const std::string_view real = real_type(dialect);
  const std::string_view divided = dialect == Dialect::MariaDb ? "DIV" : "/";
  const std::string run_s =
      fmt::format("COALESCE(CAST(end_ns-start_ns AS {0})/1e9,CAST(work_s AS {0}),0)", real);
  // Same rule as records::held_gpus.
  const std::string gpus_of_part = fmt::format("((gpu_milli-1) {} 1000+1)", divided);
  const std::string gpus = fmt::format(
      "CASE WHEN gpu_milli>0 THEN CAST(COALESCE(num_gpus,{1}) AS {0})*gpu_milli/(1000.0*{1}) ELSE "
      "CAST(COALESCE(num_gpus,0) AS {0}) END",
      real, gpus_of_part);
  return fmt::format(
      "SELECT CASE WHEN submit_ns>=0 THEN submit_ns ELSE COALESCE(start_ns,end_ns,0) END {0} "
      "86400000000000 AS day,COALESCE(user_id,0) AS u,COALESCE(account_id,0) AS "
      "a,COALESCE(partition_id,0) AS p,COALESCE(resource_type_id,0) AS t,state,COUNT(*),"
      "COUNT(start_ns),SUM(({1})*({2})),SUM(CAST(COALESCE(num_nodes,0) AS {3})*({2})),"
      "SUM(CASE WHEN start_ns>=submit_ns AND submit_ns>=0 THEN CAST(start_ns-submit_ns AS {3})/1e9 "
      "ELSE 0 END) FROM {4} GROUP BY 1,2,3,4,5,6",
      divided, gpus, run_s, real, partition_name(year));
}

Result<std::vector<int>> years_with_sums(SqlConnection& connection) {
  std::vector<int> years;
  auto status = connection.query("SELECT DISTINCT fiscal_year FROM goban_daily ORDER BY 1",
                                 [&years](const SqlRow& row) {
                                   years.push_back(static_cast<int>(row.whole(0)));
                                   return true;
                                 });
  if (!status) return base::failure(status.error());
  return years;
}

}  // namespace

Result<std::vector<int>> reduced_years(SqlConnection& connection) {
  auto years = years_with_sums(connection);
  if (!years) return years;
  const auto with_jobs = partitions(connection);
  if (!with_jobs) return base::failure(with_jobs.error());
  // A year with both was being reduced when this was interrupted: its jobs are valid.
  std::erase_if(*years,
                [&](int year) { return std::ranges::find(*with_jobs, year) != with_jobs->end(); });
  return years;
}

Status reduce_year(SqlConnection& connection, int year) {
  for (const std::string& sql :
       {std::string("BEGIN"), fmt::format("DELETE FROM goban_daily WHERE fiscal_year={}", year),
        fmt::format("INSERT INTO goban_daily(fiscal_year,{}) SELECT {},d.* FROM ({}) d",
                    kDailyColumns, year, sums_of(connection.dialect(), year)),
        fmt::format("DELETE FROM goban_seen WHERE fiscal_year={}", year), std::string("COMMIT")}) {
    if (auto status = connection.execute(sql); !status) {
      (void)connection.execute("ROLLBACK");
      return status;
    }
  }
  return drop_partition(connection, year);
}

Result<std::vector<int>> drop_years_before(SqlConnection& connection, int year, int fiscal_month) {
  auto years = partitions(connection);
  if (!years) return years;
  const auto sums = years_with_sums(connection);
  if (!sums) return base::failure(sums.error());
  years->insert(years->end(), sums->begin(), sums->end());
  std::ranges::sort(*years);
  const auto doubles = std::ranges::unique(*years);
  years->erase(doubles.begin(), doubles.end());
  std::erase_if(*years, [year](int each) { return each >= year; });
  for (const int each : *years) {
    if (auto status = drop_partition(connection, each); !status) {
      return base::failure(status.error());
    }
  }
  for (const std::string& sql : {fmt::format("DELETE FROM goban_daily WHERE fiscal_year<{}", year),
                                 fmt::format("DELETE FROM goban_seen WHERE fiscal_year<{}", year),
                                 fmt::format("DELETE FROM goban_open WHERE submit_ns<{}",
                                             fiscal_year_begin(year, fiscal_month))}) {
    if (auto status = connection.execute(sql); !status) return base::failure(status.error());
  }
  return years;
}

Status read_daily_sums(SqlConnection& connection, const StoredNames& names,
                       const std::function<void(const DailySum&)>& take) {
  const auto reduced = reduced_years(connection);
  if (!reduced) return base::failure(reduced.error());
  const auto with_jobs = partitions(connection);
  if (!with_jobs) return base::failure(with_jobs.error());
  std::vector<std::pair<int, std::string>> parts;
  for (const int year : *reduced) {
    parts.emplace_back(
        year, fmt::format("SELECT {} FROM goban_daily WHERE fiscal_year={}", kDailyColumns, year));
  }
  for (const int year : *with_jobs) {
    parts.emplace_back(year, sums_of(connection.dialect(), year));
  }
  std::ranges::sort(parts);
  for (const auto& [year, sql] : parts) {
    auto status = connection.query(sql + " ORDER BY 1,2,3,4,5,6", [&](const SqlRow& row) {
      take({.day = row.whole(0),
            .user = names[row.whole(1)],
            .account = names[row.whole(2)],
            .partition = names[row.whole(3)],
            .resource_type = names[row.whole(4)],
            .state = row.whole(5),
            .jobs = row.whole(6),
            .ran = row.whole(7),
            .gpu_s = row.real(8),
            .node_s = row.real(9),
            .wait_s = row.real(10)});
      return true;
    });
    if (!status) return status;
  }
  return {};
}

}  // namespace goban::site::store
