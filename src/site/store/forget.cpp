#include "site/store/forget.hpp"

#include <array>
#include <fmt/format.h>
#include <random>
#include <set>
#include <vector>

#include "site/store/schema.hpp"

namespace goban::site::store {
namespace {

using base::Result;
using base::Status;

/// Ids of the user's name: normally one; several only in stores that were merged manually.
Result<std::string> ids_of(SqlConnection& connection, std::string_view user) {
  std::string ids;
  const auto status =
      connection.query(fmt::format("SELECT id FROM goban_names WHERE kind={} AND name={}",
                                   static_cast<int>(NameKind::User), connection.quoted(user)),
                       [&ids](const SqlRow& row) {
                         ids += fmt::format("{}{}", ids.empty() ? "" : ",", row.whole(0));
                         return true;
                       });
  if (!status) return base::failure(status.error());
  return ids;
}

Result<Forgotten> count(SqlConnection& connection, const std::string& ids) {
  Forgotten found;
  const auto years = partitions(connection);
  if (!years) return base::failure(years.error());
  const auto add = [&](const std::string& table, int64_t& sum) -> Status {
    const auto rows = connection.query_whole(
        fmt::format("SELECT COUNT(*) FROM {} WHERE user_id IN ({})", table, ids));
    if (!rows) return base::failure(rows.error());
    sum += rows->value_or(0);
    return {};
  };
  for (const int year : *years) {
    if (auto status = add(partition_name(year), found.jobs); !status) {
      return base::failure(status.error());
    }
  }
  if (auto status = add("goban_daily", found.days); !status) return base::failure(status.error());
  return found;
}

constexpr std::array<std::string_view, 3> kNamesThatGo = {"group_id", "reservation_id",
                                                          "software_id"};

/// Adds the name ids of a column to `numbers`.
Status add_numbers(SqlConnection& connection, const std::string& sql, std::set<int64_t>& numbers) {
  return connection.query(sql, [&numbers](const SqlRow& row) {
    numbers.insert(row.whole(0));
    return true;
  });
}

/// Ids of names in columns that are to be cleared: of one user's jobs, or of all jobs and hook
/// records.
Result<std::set<int64_t>> names_in_use(SqlConnection& connection, const std::vector<int>& years,
                                       const std::string& ids) {
  std::set<int64_t> numbers;
  const std::string whose = ids.empty() ? "" : fmt::format(" AND user_id IN ({})", ids);
  Status status;
  for (const int year : years) {
    const std::string table = partition_name(year);
    for (const std::string_view column : kNamesThatGo) {
      if (!status) break;
      status = add_numbers(connection,
                           fmt::format("SELECT DISTINCT {0} FROM {1} WHERE {0} IS NOT NULL{2}",
                                       column, table, whose),
                           numbers);
    }
    if (!status || ids.empty()) continue;
    status = add_numbers(connection,
                         fmt::format("SELECT DISTINCT s.name_id FROM goban_seen s JOIN {} j ON "
                                     "j.job_id=s.job_id WHERE j.user_id IN ({})",
                                     table, ids),
                         numbers);
  }
  if (status && ids.empty()) {
    status = add_numbers(connection, "SELECT DISTINCT name_id FROM goban_seen", numbers);
  }
  if (!status) return base::failure(status.error());
  return numbers;
}

std::string random_name() {
  std::random_device random;
  return fmt::format("forgotten-{:08x}{:08x}", random(), random());
}

Status run(SqlConnection& connection, const std::vector<std::string>& statements) {
  for (const std::string& sql : statements) {
    if (auto status = connection.execute(sql); !status) return status;
  }
  return {};
}

/// Deletes names that are no longer referenced.
Status drop_names(SqlConnection& connection, const std::vector<int>& years,
                  std::set<int64_t> names) {
  const auto used = names_in_use(connection, years, "");
  if (!used) return base::failure(used.error());
  for (const int64_t number : *used) names.erase(number);
  for (const int64_t number : names) {
    auto status = connection.execute(fmt::format("DELETE FROM goban_names WHERE id={}", number));
    if (!status) return status;
  }
  return {};
}

Status change(SqlConnection& connection, const std::string& ids, const std::string& name) {
  const auto years = partitions(connection);
  if (!years) return base::failure(years.error());
  const auto names = names_in_use(connection, *years, ids);
  if (!names) return base::failure(names.error());
  std::vector<std::string> statements;
  for (const int year : *years) {
    const std::string table = partition_name(year);
    statements.push_back(fmt::format(
        "DELETE FROM goban_seen WHERE EXISTS (SELECT 1 FROM {} j WHERE j.job_id=goban_seen.job_id "
        "AND j.user_id IN ({}))",
        table, ids));
    statements.push_back(fmt::format(
        "UPDATE {} SET "
        "job_name=NULL,command_line=NULL,details=NULL,group_id=NULL,reservation_id=NULL,"
        "software_id=NULL WHERE user_id IN ({})",
        table, ids));
  }
  statements.push_back(
      fmt::format("UPDATE goban_names SET name={} WHERE id IN ({})", connection.quoted(name), ids));
  Status status = connection.execute("BEGIN");
  if (!status) return status;
  status = run(connection, statements);
  if (status) status = drop_names(connection, *years, *names);
  if (status) status = connection.execute("COMMIT");
  if (!status) (void)connection.execute("ROLLBACK");
  return status;
}

/// Clears what SQLite retains of deleted rows: free pages and the write-ahead log.
Status pragma(SqlConnection& connection, const std::string& text) {
  if (connection.dialect() != Dialect::Sqlite) return {};
  return connection.query("PRAGMA " + text, [](const SqlRow&) { return true; });
}

}  // namespace

Result<Forgotten> find_user_records(SqlConnection& connection, std::string_view user) {
  const auto ids = ids_of(connection, user);
  if (!ids) return base::failure(ids.error());
  return ids->empty() ? Forgotten{} : count(connection, *ids);
}

Result<Forgotten> forget_user(SqlConnection& connection, std::string_view user) {
  const auto ids = ids_of(connection, user);
  if (!ids) return base::failure(ids.error());
  if (ids->empty()) return Forgotten{};
  auto found = count(connection, *ids);
  if (!found) return found;
  found->name_now = random_name();
  if (auto status = pragma(connection, "secure_delete=ON"); !status) {
    return base::failure(status.error());
  }
  if (auto status = change(connection, *ids, found->name_now); !status) {
    return base::failure(status.error());
  }
  if (auto status = pragma(connection, "wal_checkpoint(TRUNCATE)"); !status) {
    return base::failure(status.error());
  }
  return found;
}

}  // namespace goban::site::store
