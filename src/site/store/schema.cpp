#include "site/store/schema.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

#include "base/number.hpp"

namespace goban::site::store {
namespace {

using base::Result;
using base::Status;

/// SQL words that differ between databases.
struct Words {
  std::string_view text;      ///< of any length
  std::string_view key_text;  ///< as part of a key
  std::string_view real;
  std::string_view after_table;
};

Words words_of(Dialect dialect) {
  switch (dialect) {
    case Dialect::Sqlite:
      return {"TEXT", "TEXT", "REAL", ""};
    case Dialect::MariaDb:
      return {"MEDIUMTEXT", "VARCHAR(190)", "DOUBLE",
              " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin"};
    case Dialect::PostgreSql:
      return {"TEXT", "TEXT COLLATE \"C\"", "DOUBLE PRECISION", ""};
  }
  return {};
}

std::string column_type(JobColumn column, const Words& words) {
  switch (column) {
    case JobColumn::JobId:
      return fmt::format("{} NOT NULL", words.key_text);
    case JobColumn::JobNumber:
    case JobColumn::Submit:
    case JobColumn::StartKey:
      return "BIGINT NOT NULL";
    case JobColumn::Cluster:
      return "INTEGER NOT NULL";
    case JobColumn::Eligible:
    case JobColumn::Start:
    case JobColumn::End:
    case JobColumn::Walltime:
    case JobColumn::ArrayTask:
    case JobColumn::Mem:
    case JobColumn::GpuMemMax:
    case JobColumn::MemMax:
    case JobColumn::Read:
    case JobColumn::Write:
      return "BIGINT";
    case JobColumn::Work:
    case JobColumn::UtilMax:
    case JobColumn::CpuSeconds:
    case JobColumn::Energy:
      return std::string(words.real);
    case JobColumn::Gpus:
    case JobColumn::JobName:
    case JobColumn::CommandLine:
    case JobColumn::Details:
      return std::string(words.text);
    default:
      return "INTEGER";
  }
}

/// Runs the statements in order.
Status run(SqlConnection& connection, const std::vector<std::string>& statements) {
  for (const std::string& sql : statements) {
    if (auto status = connection.execute(sql); !status) return status;
  }
  return {};
}

Status create_view(SqlConnection& connection, const std::vector<int>& years) {
  std::vector<std::string> sql = {"DROP VIEW IF EXISTS goban_jobs"};
  if (!years.empty()) {
    std::string view = "CREATE VIEW goban_jobs AS ";
    for (size_t i = 0; i < years.size(); ++i) {
      view += fmt::format("{}SELECT {} AS fiscal_year, j.* FROM {} j", i == 0 ? "" : " UNION ALL ",
                          years[i], partition_name(years[i]));
    }
    sql.push_back(std::move(view));
  }
  return run(connection, sql);
}

Status create_tables(SqlConnection& connection, int fiscal_month) {
  const Words words = words_of(connection.dialect());
  return run(
      connection,
      {fmt::format(
           "CREATE TABLE IF NOT EXISTS goban_names(id INTEGER PRIMARY KEY, kind INTEGER NOT "
           "NULL, name {} NOT NULL){}",
           words.text, words.after_table),
       fmt::format(
           "CREATE TABLE IF NOT EXISTS goban_imports(id INTEGER PRIMARY KEY, source {0} NOT "
           "NULL, format {0}, bytes BIGINT, crc32 BIGINT, records BIGINT, rejected BIGINT, "
           "begun_unix_s BIGINT NOT NULL, done_unix_s BIGINT){1}",
           words.text, words.after_table),
       fmt::format("CREATE TABLE IF NOT EXISTS goban_open(job_number BIGINT NOT NULL, submit_ns "
                   "BIGINT NOT NULL, job_id {} NOT NULL, cluster_id INTEGER NOT NULL, PRIMARY "
                   "KEY(job_number,submit_ns,job_id,cluster_id)){}",
                   words.key_text, words.after_table),
       fmt::format("INSERT INTO goban_meta(name,value) VALUES('fiscal_month','{}')", fiscal_month),
       "INSERT INTO goban_meta(name,value) VALUES('schema_version','1')"});
}

/// Version 3: hook records, and sums of years without jobs.
Status to_version_3(SqlConnection& connection) {
  const Words words = words_of(connection.dialect());
  return run(
      connection,
      {fmt::format("CREATE TABLE IF NOT EXISTS goban_seen(job_id {} NOT NULL, cluster_id INTEGER "
                   "NOT NULL, fiscal_year INTEGER NOT NULL, kind INTEGER NOT NULL, name_id INTEGER "
                   "NOT NULL, seen_ns BIGINT NOT NULL, PRIMARY "
                   "KEY(job_id,cluster_id,fiscal_year,kind,name_id)){}",
                   words.key_text, words.after_table),
       fmt::format(
           "CREATE TABLE IF NOT EXISTS goban_daily(fiscal_year INTEGER NOT NULL, day INTEGER NOT "
           "NULL, user_id INTEGER NOT NULL, account_id INTEGER NOT NULL, partition_id INTEGER NOT "
           "NULL, resource_type_id INTEGER NOT NULL, state INTEGER NOT NULL, jobs BIGINT NOT NULL, "
           "ran BIGINT NOT NULL, gpu_s {0} NOT NULL, node_s {0} NOT NULL, wait_s {0} NOT NULL, "
           "PRIMARY "
           "KEY(fiscal_year,day,user_id,account_id,partition_id,resource_type_id,state)){1}",
           words.real, words.after_table)});
}

/// Adds a column to all years. Each step can be repeated.
Status add_column(SqlConnection& connection, JobColumn column) {
  const auto years = partitions(connection);
  if (!years) return base::failure(years.error());
  const std::string_view name = kJobColumns[static_cast<size_t>(column)];
  for (const int year : *years) {
    const bool has_if = connection.dialect() != Dialect::Sqlite;  // ADD COLUMN IF NOT EXISTS
    if (!has_if) {
      const auto found = connection.query_whole(fmt::format(
          "SELECT 1 FROM pragma_table_info('{}') WHERE name='{}'", partition_name(year), name));
      if (!found) return base::failure(found.error());
      if (*found) continue;
    }
    auto status = connection.execute(fmt::format(
        "ALTER TABLE {} ADD COLUMN {}{} {}", partition_name(year), has_if ? "IF NOT EXISTS " : "",
        name, column_type(column, words_of(connection.dialect()))));
    if (!status) return status;
  }
  return create_view(connection, *years);
}

/// Columns that identify a row of goban_seen.
constexpr std::string_view kSeenKey = "job_id,cluster_id,fiscal_year,kind,name_id,seen_slot";

/// SQLite cannot change keys: the table is rebuilt.
Status rebuild_seen(SqlConnection& connection, const std::string& slot) {
  const Words words = words_of(connection.dialect());
  auto status = run(
      connection,
      {"BEGIN", "DROP TABLE IF EXISTS goban_seen_new",
       fmt::format("CREATE TABLE goban_seen_new(job_id {} NOT NULL, cluster_id INTEGER NOT NULL, "
                   "fiscal_year INTEGER NOT NULL, kind INTEGER NOT NULL, name_id INTEGER NOT NULL, "
                   "seen_slot INTEGER NOT NULL, seen_ns BIGINT NOT NULL, PRIMARY KEY({}))",
                   words.key_text, kSeenKey),
       fmt::format("INSERT INTO goban_seen_new({0},seen_ns) SELECT "
                   "job_id,cluster_id,fiscal_year,kind,name_id,{1},seen_ns FROM goban_seen",
                   kSeenKey, slot),
       "DROP TABLE goban_seen", "ALTER TABLE goban_seen_new RENAME TO goban_seen", "COMMIT"});
  if (!status) static_cast<void>(connection.execute("ROLLBACK"));
  return status;
}

/// Version 5: hook records of two runs of a job are kept separately. Each step can be repeated.
Status to_version_5(SqlConnection& connection) {
  const bool is_mariadb = connection.dialect() == Dialect::MariaDb;
  const std::string slot =
      fmt::format("seen_ns {} {}", is_mariadb ? "DIV" : "/", int64_t{kSeenSlotNs});
  if (connection.dialect() == Dialect::Sqlite) return rebuild_seen(connection, slot);
  return run(
      connection,
      {"ALTER TABLE goban_seen ADD COLUMN IF NOT EXISTS seen_slot INTEGER NOT NULL DEFAULT 0",
       "UPDATE goban_seen SET seen_slot=" + slot,
       fmt::format("ALTER TABLE goban_seen {} PRIMARY KEY({})",
                   is_mariadb ? "DROP PRIMARY KEY, ADD"
                              : "DROP CONSTRAINT IF EXISTS goban_seen_pkey, ADD CONSTRAINT "
                                "goban_seen_pkey",
                   kSeenKey)});
}

}  // namespace

std::string_view real_type(Dialect dialect) { return words_of(dialect).real; }

int fiscal_year(base::TimeNs unix_ns, int first_month) {
  const std::chrono::sys_time<std::chrono::nanoseconds> moment{std::chrono::nanoseconds(unix_ns)};
  const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(moment)};
  const bool before = static_cast<int>(static_cast<unsigned>(day.month())) < first_month;
  return static_cast<int>(day.year()) - (before ? 1 : 0);
}

base::TimeNs fiscal_year_begin(int year, int first_month) {
  const std::chrono::sys_days day =
      std::chrono::year(year) / std::chrono::month(static_cast<unsigned>(first_month)) / 1;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(day.time_since_epoch()).count();
}

std::string partition_name(int year) { return fmt::format("goban_jobs_fy{:04}", year); }

Result<std::vector<int>> partitions(SqlConnection& connection) {
  constexpr std::string_view kPrefix = "goban_jobs_fy";
  const Dialect dialect = connection.dialect();
  const std::string sql =
      dialect == Dialect::Sqlite ? "SELECT name FROM sqlite_master WHERE type='table' ORDER BY name"
      : dialect == Dialect::MariaDb
          ? "SELECT table_name FROM information_schema.tables WHERE table_schema=DATABASE() ORDER "
            "BY table_name"
          : "SELECT table_name FROM information_schema.tables WHERE "
            "table_schema=current_schema() ORDER BY table_name";
  std::vector<int> years;
  auto status = connection.query(sql, [&](const SqlRow& row) {
    const std::string_view name = row.text(0);
    if (!name.starts_with(kPrefix)) return true;
    if (const auto year = base::parse_int(name.substr(kPrefix.size()))) {
      years.push_back(static_cast<int>(*year));
    }
    return true;
  });
  if (!status) return base::failure(status.error());
  return years;
}

Status create_partition(SqlConnection& connection, int year) {
  auto years = partitions(connection);
  if (!years) return base::failure(years.error());
  const bool is_mariadb = connection.dialect() == Dialect::MariaDb;
  if (std::ranges::find(*years, year) != years->end()) {
    // MariaDB commits each of the statements below, so the view may be missing.
    return is_mariadb ? create_view(connection, *years) : Status();
  }
  const Words words = words_of(connection.dialect());
  std::string columns;
  std::string keys;
  for (size_t i = 0; i < kJobColumns.size(); ++i) {
    columns += fmt::format("{} {},", kJobColumns[i], column_type(static_cast<JobColumn>(i), words));
    if (i < kNumKeyColumns) keys += fmt::format("{}{}", i == 0 ? "" : ",", kJobColumns[i]);
  }
  const bool is_sqlite = connection.dialect() == Dialect::Sqlite;
  if (auto status = connection.execute(
          fmt::format("CREATE TABLE {}({}PRIMARY KEY({})){}{}", partition_name(year), columns, keys,
                      is_sqlite ? " WITHOUT ROWID" : "", words.after_table));
      !status) {
    return status;
  }
  years->push_back(year);
  return create_view(connection, *years);
}

Status create_indexes(SqlConnection& connection) {
  const auto years = partitions(connection);
  if (!years) return base::failure(years.error());
  for (const int year : *years) {
    // For queries by user and month, answered from the index alone.
    auto status = connection.create_index(
        fmt::format("CREATE INDEX IF NOT EXISTS {0}_user ON {0}(user_id,end_ns,start_ns,num_gpus)",
                    partition_name(year)));
    if (!status) return status;
  }
  return {};
}

Status drop_partition(SqlConnection& connection, int year) {
  auto years = partitions(connection);
  if (!years) return base::failure(years.error());
  std::erase(*years, year);
  if (auto status = create_view(connection, *years); !status) return status;
  return connection.execute("DROP TABLE IF EXISTS " + partition_name(year));
}

Status migrate(SqlConnection& connection, int fiscal_month) {
  const Words words = words_of(connection.dialect());
  auto status = connection.execute(
      fmt::format("CREATE TABLE IF NOT EXISTS goban_meta(name {} PRIMARY KEY, value {} NOT NULL){}",
                  words.key_text, words.text, words.after_table));
  if (!status) return status;
  auto found = connection.query_text("SELECT value FROM goban_meta WHERE name='schema_version'");
  if (!found) return base::failure(found.error());
  int64_t version = *found ? base::parse_int(**found).value_or(-1) : 0;
  if (version < 0 || version > kSchemaVersion) {
    return base::bad_data(
        {},
        fmt::format("the store has schema version {}; this version of goban supports {}",
                    *found ? **found : "?", kSchemaVersion),
        "use the version of goban that wrote it, or a newer one");
  }
  if (version == 0) {
    // Repeats an interrupted creation.
    status = connection.execute("DELETE FROM goban_meta WHERE name='fiscal_month'");
    if (status) status = create_tables(connection, fiscal_month);
    if (!status) return status;
    version = 1;
  }
  if (version == 1) status = create_indexes(connection);
  if (status && version < 3) status = to_version_3(connection);
  if (status && version < 4) status = add_column(connection, JobColumn::Energy);
  if (status && version < 5) status = to_version_5(connection);
  if (status && version < 6) status = add_column(connection, JobColumn::Details);
  if (!status || version == kSchemaVersion) return status;
  return connection.execute(
      fmt::format("UPDATE goban_meta SET value='{}' WHERE name='schema_version'", kSchemaVersion));
}

}  // namespace goban::site::store
