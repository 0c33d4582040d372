// PostgreSQL: rows are copied (COPY) into a temporary table and merged from it in one statement.
#include "site/store/sql.hpp"

#ifdef GOBAN_POSTGRESQL
#include <chrono>
#include <fmt/format.h>
#include <libpq-fe.h>
#include <thread>

#include "base/number.hpp"
#include "site/store/client_library.hpp"

namespace goban::site::store {
namespace {

using base::Result;
using base::Status;

constexpr size_t kCopyBytes = size_t{8} << 20;
constexpr int kLockTries = 30;
constexpr std::chrono::milliseconds kLockPause(100);

/// Functions of the client library that are used here, as its header declares them.
struct Functions {
  decltype(&PQclear) clear = nullptr;
  decltype(&PQgetisnull) get_is_null = nullptr;
  decltype(&PQgetvalue) get_value = nullptr;
  decltype(&PQgetlength) get_length = nullptr;
  decltype(&PQfinish) finish = nullptr;
  decltype(&PQerrorMessage) error_message = nullptr;
  decltype(&PQexec) exec = nullptr;
  decltype(&PQresultStatus) result_status = nullptr;
  decltype(&PQsendQuery) send_query = nullptr;
  decltype(&PQsetSingleRowMode) set_single_row_mode = nullptr;
  decltype(&PQgetResult) get_result = nullptr;
  decltype(&PQescapeLiteral) escape_literal = nullptr;
  decltype(&PQfreemem) free_memory = nullptr;
  decltype(&PQputCopyData) put_copy_data = nullptr;
  decltype(&PQputCopyEnd) put_copy_end = nullptr;
  decltype(&PQconnectdb) connect = nullptr;
  decltype(&PQstatus) status = nullptr;
  decltype(&PQsetNoticeProcessor) set_notice_processor = nullptr;
  decltype(&PQsetClientEncoding) set_client_encoding = nullptr;
};

Result<Functions> load_functions() {
  auto library =
      ClientLibrary::load("libpq.so.5", "install PostgreSQL's client library (Debian: libpq5)");
  if (!library) return base::failure(library.error());
  Functions f;
  library->find(f.clear, "PQclear");
  library->find(f.get_is_null, "PQgetisnull");
  library->find(f.get_value, "PQgetvalue");
  library->find(f.get_length, "PQgetlength");
  library->find(f.finish, "PQfinish");
  library->find(f.error_message, "PQerrorMessage");
  library->find(f.exec, "PQexec");
  library->find(f.result_status, "PQresultStatus");
  library->find(f.send_query, "PQsendQuery");
  library->find(f.set_single_row_mode, "PQsetSingleRowMode");
  library->find(f.get_result, "PQgetResult");
  library->find(f.escape_literal, "PQescapeLiteral");
  library->find(f.free_memory, "PQfreemem");
  library->find(f.put_copy_data, "PQputCopyData");
  library->find(f.put_copy_end, "PQputCopyEnd");
  library->find(f.connect, "PQconnectdb");
  library->find(f.status, "PQstatus");
  library->find(f.set_notice_processor, "PQsetNoticeProcessor");
  library->find(f.set_client_encoding, "PQsetClientEncoding");
  if (auto status = library->complete(); !status) return base::failure(status.error());
  return f;
}

using PgResult = std::unique_ptr<PGresult, decltype(&PQclear)>;

class Row final : public SqlRow {
 public:
  explicit Row(const Functions& f) : f_(f) {}
  const PGresult* result = nullptr;
  bool is_null(size_t column) const override {
    return f_.get_is_null(result, 0, static_cast<int>(column)) != 0;
  }
  int64_t whole(size_t column) const override { return base::parse_int(text(column)).value_or(0); }
  double real(size_t column) const override { return base::parse_double(text(column)).value_or(0); }
  std::string_view text(size_t column) const override {
    return {f_.get_value(result, 0, static_cast<int>(column)),
            static_cast<size_t>(f_.get_length(result, 0, static_cast<int>(column)))};
  }

 private:
  const Functions& f_;
};

class Connection final : public SqlConnection {
 public:
  Connection(const Functions& f, const std::string& uri)
      : f_(f), database_(f.connect(uri.c_str())) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() override { f_.finish(database_); }

  PGconn* database() { return database_; }
  Dialect dialect() const override { return Dialect::PostgreSql; }
  tl::unexpected<base::Error> error() {
    std::string text = f_.error_message(database_);
    while (text.ends_with('\n')) text.pop_back();
    return base::failed("PostgreSQL: " + text);
  }
  Status execute(const std::string& sql) override {
    const PgResult result = owned(f_.exec(database_, sql.c_str()));
    const ExecStatusType status = f_.result_status(result.get());
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return {};
    return error();
  }
  Status query(const std::string& sql, const std::function<bool(const SqlRow&)>& take) override {
    if (f_.send_query(database_, sql.c_str()) == 0 || f_.set_single_row_mode(database_) == 0) {
      return error();
    }
    Row row(f_);
    bool more = true;
    Status status;
    while (const PgResult result = owned(f_.get_result(database_))) {
      const ExecStatusType kind = f_.result_status(result.get());
      if (kind == PGRES_SINGLE_TUPLE && more) {
        row.result = result.get();
        more = take(row);
      } else if (kind == PGRES_FATAL_ERROR && status) {
        status = error();
      }
    }
    return status;
  }
  Result<std::unique_ptr<BulkWriter>> bulk(const BulkTable& table) override;
  std::string quoted(std::string_view text) override {
    char* const literal = f_.escape_literal(database_, text.data(), text.size());
    std::string out = literal == nullptr ? "NULL" : literal;
    f_.free_memory(literal);
    return out;
  }
  Status lock_for_writing() override {
    // The server notices with a delay that a writer has disconnected.
    for (int i = 0; i < kLockTries; ++i) {
      if (i > 0) std::this_thread::sleep_for(kLockPause);
      auto got = query_whole("SELECT pg_try_advisory_lock(hashtext('goban store'))::int");
      if (!got) return base::failure(got.error());
      if (*got == 1) return {};
    }
    return base::failed("another import is writing to this store", "wait until it is done");
  }
  Status copy(const std::string& table, const std::string& rows) {
    const PgResult begun = owned(f_.exec(database_, ("COPY " + table + " FROM STDIN").c_str()));
    if (f_.result_status(begun.get()) != PGRES_COPY_IN) return error();
    if (f_.put_copy_data(database_, rows.data(), static_cast<int>(rows.size())) != 1 ||
        f_.put_copy_end(database_, nullptr) != 1) {
      return error();
    }
    Status status;
    while (const PgResult result = owned(f_.get_result(database_))) {
      if (f_.result_status(result.get()) != PGRES_COMMAND_OK && status) status = error();
    }
    return status;
  }

 private:
  PgResult owned(PGresult* result) const { return {result, f_.clear}; }

  Functions f_;
  PGconn* database_;
};

class Writer final : public BulkWriter {
 public:
  Writer(Connection& connection, const BulkTable& table, std::string staging)
      : connection_(connection), staging_(std::move(staging)) {
    std::string names;
    std::string keys;
    std::string sets;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const std::string name(table.columns[i]);
      names += (i == 0 ? "" : ",") + name;
      if (i < table.num_keys) {
        keys += (i == 0 ? "" : ",") + name;
      } else {
        sets += sets.empty() ? "" : ",";
        sets += name;
        sets += "=excluded.";
        sets += name;
      }
    }
    // If keys repeat within a batch, the last row is used.
    merge_ = fmt::format(
        "INSERT INTO {}({}) SELECT DISTINCT ON ({}) {} FROM {} ORDER BY {}, goban_row DESC "
        "ON CONFLICT({}) {}",
        table.name, names, keys, names, staging_, keys, keys,
        sets.empty() ? "DO NOTHING" : "DO UPDATE SET " + sets);
  }
  void null() override { separate() += "\\N"; }
  void whole(int64_t value) override { base::append_number(separate(), value); }
  void real(double value) override { base::append_number(separate(), value); }
  void text(std::string_view value) override {
    std::string& out = separate();
    for (const char c : value) {
      switch (c) {
        case '\\':
          out += "\\\\";
          break;
        case '\n':
          out += "\\n";
          break;
        case '\r':
          out += "\\r";
          break;
        case '\t':
          out += "\\t";
          break;
        default:
          out += c;
      }
    }
  }
  Status end_row() override {
    rows_ += '\t';
    base::append_number(rows_, ++row_);
    rows_ += '\n';
    in_row_ = false;
    return rows_.size() >= kCopyBytes ? flush() : Status();
  }
  Status flush() override {
    if (rows_.empty()) return {};
    auto status = connection_.copy(staging_, rows_);
    if (status) status = connection_.execute(merge_);
    if (status) status = connection_.execute("TRUNCATE " + staging_);
    rows_.clear();
    return status;
  }

 private:
  std::string& separate() {
    if (in_row_) rows_ += '\t';
    in_row_ = true;
    return rows_;
  }
  Connection& connection_;
  std::string staging_, merge_, rows_;
  int64_t row_ = 0;
  bool in_row_ = false;
};

Result<std::unique_ptr<BulkWriter>> Connection::bulk(const BulkTable& table) {
  const std::string staging = "goban_new_" + table.name;
  std::string names;
  for (const std::string_view column : table.columns) {
    names += (names.empty() ? "" : ",") + std::string(column);
  }
  auto status = execute(fmt::format(
      "DROP TABLE IF EXISTS {0}; CREATE TEMPORARY TABLE {0} AS SELECT {1} FROM {2} WITH NO DATA;"
      "ALTER TABLE {0} ADD COLUMN goban_row BIGINT",
      staging, names, table.name));
  if (!status) return base::failure(status.error());
  return std::make_unique<Writer>(*this, table, staging);
}

}  // namespace

Result<std::unique_ptr<SqlConnection>> open_postgresql(const std::string& uri) {
  const auto f = load_functions();
  if (!f) return base::failure(f.error());
  auto connection = std::make_unique<Connection>(*f, uri);
  PGconn* const database = connection->database();
  if (f->status(database) != CONNECTION_OK) return connection->error();
  f->set_notice_processor(database, [](void*, const char*) {}, nullptr);
  f->set_client_encoding(database, "UTF8");
  return connection;
}

}  // namespace goban::site::store

#else

namespace goban::site::store {

base::Result<std::unique_ptr<SqlConnection>> open_postgresql(const std::string&) {
  return base::usage_error("this goban was built without PostgreSQL",
                           "install libpq-dev and build again");
}

}  // namespace goban::site::store

#endif
