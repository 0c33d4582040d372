#include "site/store/details.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "site/store/schema.hpp"

namespace goban::site::store {

using base::Result;

namespace {

struct DetailsRow {
  int64_t end_ns = 0;
  int64_t number = 0;
  int64_t submit_ns = 0;
  std::string text{};
};

/// The id of a name; -1, which no row has, if it is unknown. A number rather than a subquery, so
/// that the index by user and end is read from its end.
Result<int64_t> id_of(SqlConnection& connection, NameKind kind, const std::string& name) {
  const auto id = connection.query_whole(
      fmt::format("SELECT MIN(id) FROM goban_names WHERE kind={} AND name={}",
                  static_cast<int>(kind), connection.quoted(name)));
  if (!id) return base::failure(id.error());
  return id->value_or(-1);
}

Result<std::string> condition_of(SqlConnection& connection, const DetailsQuery& query) {
  const auto cluster = id_of(connection, NameKind::Cluster, query.cluster);
  if (!cluster) return base::failure(cluster.error());
  std::string where =
      fmt::format("details IS NOT NULL AND end_ns IS NOT NULL AND cluster_id={}", *cluster);
  if (!query.user.empty()) {
    const auto user = id_of(connection, NameKind::User, query.user);
    if (!user) return base::failure(user.error());
    where += fmt::format(" AND user_id={}", *user);
  }
  if (query.from_ns) where += fmt::format(" AND end_ns>={}", *query.from_ns);
  if (query.to_ns) where += fmt::format(" AND end_ns<{}", *query.to_ns);
  std::string jobs;
  for (const DetailsQuery::Job& job : query.jobs) {
    jobs += fmt::format("{}job_number={}", jobs.empty() ? "" : " OR ", job.number);
    if (job.task >= 0) jobs += fmt::format(" AND array_task={}", job.task);
  }
  return jobs.empty() ? where : where + " AND (" + jobs + ")";
}

/// Of a number that was used again, only the jobs of the latest submission.
void drop_earlier(std::vector<DetailsRow>& rows) {
  std::map<int64_t, int64_t> latest;
  for (const DetailsRow& row : rows) {
    int64_t& submit_ns = latest.try_emplace(row.number, row.submit_ns).first->second;
    submit_ns = std::max(submit_ns, row.submit_ns);
  }
  std::erase_if(rows, [&](const DetailsRow& row) { return row.submit_ns < latest.at(row.number); });
}

}  // namespace

Result<std::vector<std::string>> read_details(SqlConnection& connection,
                                              const DetailsQuery& query) {
  const auto years = partitions(connection);
  if (!years) return base::failure(years.error());
  std::vector<DetailsRow> rows;
  const auto where = condition_of(connection, query);
  if (!where) return base::failure(where.error());
  for (const int year : *years) {
    auto status = connection.query(
        fmt::format("SELECT end_ns,job_number,submit_ns,details FROM {} WHERE {} ORDER BY end_ns "
                    "DESC LIMIT {}",
                    partition_name(year), *where, query.limit),
        [&](const SqlRow& row) {
          rows.push_back({row.whole(0), row.whole(1), row.whole(2), std::string(row.text(3))});
          return true;
        });
    if (!status) return base::failure(status.error());
  }
  if (!query.jobs.empty()) drop_earlier(rows);
  std::ranges::stable_sort(rows, std::ranges::greater(), &DetailsRow::end_ns);
  rows.resize(std::min(rows.size(), static_cast<size_t>(query.limit)));
  std::vector<std::string> out;
  out.reserve(rows.size());
  for (DetailsRow& row : rows) out.push_back(std::move(row.text));
  return out;
}

}  // namespace goban::site::store
