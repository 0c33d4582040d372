// SQLite: one file; after a writer is killed it contains complete transactions only.
#include <fcntl.h>
#include <filesystem>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/check.hpp"
#include "site/store/sql.hpp"
#include "site/store/sqlite_handle.hpp"

namespace goban::site::store {
namespace {

using base::Result;
using base::Status;

struct FinaliseStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinaliseStatement>;

tl::unexpected<base::Error> error_of(sqlite3* database, const std::string& path) {
  const int code = sqlite3_errcode(database);
  if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT) {
    return base::bad_data({path, 0, 0, {}}, sqlite3_errmsg(database),
                          "check that it is a goban store");
  }
  const char* remedy =
      code == SQLITE_FULL
          ? "free space on the disk of the store or of temporary files ($SQLITE_TMPDIR)"
      : code == SQLITE_BUSY ? "another program is writing to it; try again later"
                            : "";
  return base::failed(path + ": " + sqlite3_errmsg(database), remedy);
}

class Row final : public SqlRow {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
  bool is_null(size_t column) const override {
    return sqlite3_column_type(statement_, static_cast<int>(column)) == SQLITE_NULL;
  }
  int64_t whole(size_t column) const override {
    return sqlite3_column_int64(statement_, static_cast<int>(column));
  }
  double real(size_t column) const override {
    return sqlite3_column_double(statement_, static_cast<int>(column));
  }
  std::string_view text(size_t column) const override {
    const auto* text =
        reinterpret_cast<const char*>(sqlite3_column_text(statement_, static_cast<int>(column)));
    if (text == nullptr) return {};
    return {text, static_cast<size_t>(sqlite3_column_bytes(statement_, static_cast<int>(column)))};
  }

 private:
  sqlite3_stmt* statement_;
};

class Writer final : public BulkWriter {
 public:
  Writer(sqlite3* database, Statement statement, std::string path, size_t columns)
      : database_(database),
        statement_(std::move(statement)),
        path_(std::move(path)),
        is_null_(columns, true) {}

  // A value stays bound until the column's next value: a NULL need not be bound again.
  void null() override {
    if (!is_null_[at_])
      sqlite3_bind_null(statement_.get(), next(true));
    else
      ++at_;
  }
  void whole(int64_t value) override { sqlite3_bind_int64(statement_.get(), next(false), value); }
  void real(double value) override { sqlite3_bind_double(statement_.get(), next(false), value); }
  void text(std::string_view value) override {
    sqlite3_bind_text(statement_.get(), next(false), value.data(), static_cast<int>(value.size()),
                      SQLITE_STATIC);
  }
  Status end_row() override {
    GOBAN_CHECK(at_ == is_null_.size());
    at_ = 0;
    const int code = sqlite3_step(statement_.get());
    if (code != SQLITE_DONE) {
      auto error = error_of(database_, path_);
      sqlite3_reset(statement_.get());
      return error;
    }
    sqlite3_reset(statement_.get());
    return {};
  }
  Status flush() override { return {}; }

 private:
  /// The number of the next column, from 1.
  int next(bool is_null) {
    is_null_[at_] = is_null;
    return static_cast<int>(++at_);
  }

  sqlite3* database_;
  Statement statement_;
  std::string path_;
  std::vector<bool> is_null_;  ///< as currently bound
  size_t at_ = 0;              ///< column
};

// With a write-ahead log readers and a writer do not block each other. Changing the mode fails
// while others use the file; then it stays as it is, which is safe in both modes.
constexpr const char* kWriteAhead = "PRAGMA journal_mode=WAL";
constexpr const char* kWriteOnce = "PRAGMA journal_mode=TRUNCATE";
constexpr const char* kSafe = "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=8192";

// A page has about 50 jobs; the cache has room for the inner pages of all indexes of 10^8 jobs.
constexpr const char* kInMemory = "PRAGMA cache_size=-262144; PRAGMA temp_store=MEMORY;";

class Connection final : public SqlConnection {
 public:
  Connection(sqlite3* database, std::string path) : database_(database), path_(std::move(path)) {}
  ~Connection() override {
    if (lock_file_ >= 0) close(lock_file_);
  }

  Dialect dialect() const override { return Dialect::Sqlite; }

  Status execute(const std::string& sql) override {
    if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) {
      return {};
    }
    return error_of(database_.get(), path_);
  }

  Status query(const std::string& sql, const std::function<bool(const SqlRow&)>& take) override {
    auto statement = prepare(sql);
    if (!statement) return base::failure(statement.error());
    const Row row(statement->get());
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(statement->get())) == SQLITE_ROW) {
      if (!take(row)) return {};
    }
    if (code == SQLITE_DONE) return {};
    return error_of(database_.get(), path_);
  }

  Result<std::unique_ptr<BulkWriter>> bulk(const BulkTable& table) override {
    std::string names;
    std::string marks;
    std::string keys;
    std::string sets;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const std::string name(table.columns[i]);
      const char* const comma = i == 0 ? "" : ",";
      names += comma + name;
      marks += std::string(comma) + "?";
      if (i < table.num_keys) {
        keys += comma + name;
      } else {
        sets += sets.empty() ? "" : ",";
        sets += name;
        sets += "=excluded.";
        sets += name;
      }
    }
    const std::string action = sets.empty() ? "DO NOTHING" : "DO UPDATE SET " + sets;
    auto statement = prepare("INSERT INTO " + table.name + "(" + names + ") VALUES(" + marks +
                             ") ON CONFLICT(" + keys + ") " + action);
    if (!statement) return base::failure(statement.error());
    return std::make_unique<Writer>(database_.get(), std::move(*statement), path_,
                                    table.columns.size());
  }

  std::string quoted(std::string_view text) override {
    std::string out = "'";
    for (const char c : text) {
      if (c == '\'') out += '\'';
      out += c;
    }
    return out + "'";
  }

  /// With a rollback journal new pages are written once, with WAL twice, but readers would have to
  /// wait: it is used for empty stores only. For others, WAL is not synchronised at each commit: a
  /// power failure loses complete transactions only, and the import is marked as done after
  /// end_bulk().
  Status begin_bulk(bool empty) override {
    if (empty) (void)execute(kWriteOnce);
    if (empty) return {};
    return execute("PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=32768");
  }
  /// Rows are sorted in pieces that fit a core's cache, and merged; sorting in memory in one piece
  /// takes three times as long for 10^7 rows. Large pieces go to temporary files.
  Status create_index(const std::string& sql) override {
    auto status = execute(std::string("PRAGMA temp_store=FILE; PRAGMA cache_size=-2048;") + sql);
    auto after = execute(kInMemory);
    return status ? after : status;
  }
  Status end_bulk() override {
    (void)execute(kWriteAhead);
    return execute(kSafe);
  }

  /// A lock on a separate file: SQLite's own lock is only held within a transaction.
  Status lock_for_writing() override {
    if (lock_file_ >= 0 || path_ == ":memory:") return {};
    const std::string name = path_ + "-import-lock";
    lock_file_ = open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    if (lock_file_ < 0)
      return base::failed("cannot create " + name, "check that the folder is writable");
    if (flock(lock_file_, LOCK_EX | LOCK_NB) == 0) return {};
    close(lock_file_);
    lock_file_ = -1;
    return base::failed(path_ + ": another import is writing to this store",
                        "wait until it is done");
  }

 private:
  Result<Statement> prepare(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_.get(), sql.c_str(), static_cast<int>(sql.size() + 1),
                           &statement, nullptr) != SQLITE_OK) {
      return error_of(database_.get(), path_);
    }
    return Statement(statement);
  }

  SqliteHandle database_;
  std::string path_;
  int lock_file_ = -1;
};

}  // namespace

Result<std::unique_ptr<SqlConnection>> open_sqlite(const std::string& path, bool create) {
  // SQLite takes an empty file for an empty database.
  std::error_code unknown;
  if (!create && std::filesystem::file_size(path, unknown) == 0 && !unknown) {
    return base::bad_data({path, 0, 0, {}}, "is empty, and no store",
                          "create one with goban history import");
  }
  sqlite3* database = nullptr;
  // A connection is used by one thread at a time.
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (create ? SQLITE_OPEN_CREATE : 0);
  const int code = sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
  auto connection = std::make_unique<Connection>(database, path);
  if (code != SQLITE_OK) {
    std::error_code ignored;
    if (!create && !std::filesystem::exists(path, ignored)) {
      return base::failed("no store at " + path, "create one with goban history import");
    }
    return error_of(database, path);
  }
  sqlite3_busy_timeout(database, 10'000);
  const auto status =
      connection->execute(std::string("PRAGMA page_size=8192;") + kInMemory + kSafe);
  if (!status) return base::failure(status.error());
  (void)connection->execute(kWriteAhead);
  return connection;
}

}  // namespace goban::site::store
