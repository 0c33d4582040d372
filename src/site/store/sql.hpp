// The thin layer under the store: three databases behind one connection, values bound or escaped by
// the adapter, bulk writing that replaces rows of equal key. SQL differs only where Dialect says
// so.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::site::store {

enum class Dialect : uint8_t { Sqlite, MariaDb, PostgreSql };

/// One row of a result; columns from 0. Texts live until the next row.
class SqlRow {
 public:
  virtual ~SqlRow() = default;
  [[nodiscard]] virtual bool is_null(size_t column) const = 0;
  [[nodiscard]] virtual int64_t whole(size_t column) const = 0;
  [[nodiscard]] virtual double real(size_t column) const = 0;
  [[nodiscard]] virtual std::string_view text(size_t column) const = 0;
};

/// A table for bulk writing: the first num_keys columns are its primary key.
struct BulkTable {
  std::string name;
  std::span<const std::string_view> columns;
  size_t num_keys = 0;
};

/// Writes rows, a value for each column in order; a row of a known key replaces it. Nothing is
/// promised to be in the table before flush().
class BulkWriter {
 public:
  virtual ~BulkWriter() = default;
  virtual void null() = 0;
  virtual void whole(int64_t value) = 0;
  virtual void real(double value) = 0;
  /// Valid UTF-8 without NUL, see valid_text(); it has to live until end_row().
  virtual void text(std::string_view value) = 0;
  /// Errors: Failed, with the database's own words.
  [[nodiscard]] virtual base::Status end_row() = 0;
  [[nodiscard]] virtual base::Status flush() = 0;
};

/// One connection, one thread at a time.
class SqlConnection {
 public:
  virtual ~SqlConnection() = default;
  [[nodiscard]] virtual Dialect dialect() const = 0;
  /// Statements without results. Errors: Failed, with the database's own words.
  [[nodiscard]] virtual base::Status execute(const std::string& sql) = 0;
  /// Calls back for every row until it returns false.
  [[nodiscard]] virtual base::Status query(const std::string& sql,
                                           const std::function<bool(const SqlRow&)>& take) = 0;
  [[nodiscard]] virtual base::Result<std::unique_ptr<BulkWriter>> bulk(const BulkTable& table) = 0;
  /// The text as a literal, quotes included.
  [[nodiscard]] virtual std::string quoted(std::string_view text) = 0;
  /// A large import begins, into a store that is empty or not, and ends: for what a database does
  /// better then. Changes nothing that is promised of transactions.
  [[nodiscard]] virtual base::Status begin_bulk(bool /*empty*/) { return {}; }
  [[nodiscard]] virtual base::Status end_bulk() { return {}; }
  /// Runs a statement that makes an index of many rows. Not within a transaction.
  [[nodiscard]] virtual base::Status create_index(const std::string& sql) { return execute(sql); }
  /// Keeps other writers away until the connection ends. Errors: Failed if there is one.
  [[nodiscard]] virtual base::Status lock_for_writing() = 0;

  // Built on those.
  /// The first column of the first row; none if there is no row or it is NULL.
  [[nodiscard]] base::Result<std::optional<int64_t>> query_whole(const std::string& sql);
  [[nodiscard]] base::Result<std::optional<std::string>> query_text(const std::string& sql);
};

/// True for `sqlite:PATH`, `mariadb://...`, `mysql://...`, `postgresql://...`, `postgres://...`,
/// and for files that are SQLite databases.
[[nodiscard]] bool is_store_location(const std::string& location);

/// Opens a database: a path or `sqlite:PATH`; `mariadb://USER@HOST[:PORT]/DATABASE[?socket=PATH]`
/// (password from the group [goban] of the MariaDB option files); a PostgreSQL URI (password from
/// its ~/.pgpass). With `create` a SQLite file is made if there is none; databases on servers must
/// exist. Errors: Failed, Usage (not built in, no such kind).
[[nodiscard]] base::Result<std::unique_ptr<SqlConnection>> open_connection(
    const std::string& location, bool create);

/// The text itself, or in `buffer` with U+FFFD for what is no UTF-8, and for NUL.
[[nodiscard]] std::string_view valid_text(std::string_view text, std::string& buffer);

// Adapters. Errors: Usage where the program was built without.
[[nodiscard]] base::Result<std::unique_ptr<SqlConnection>> open_sqlite(const std::string& path,
                                                                       bool create);
[[nodiscard]] base::Result<std::unique_ptr<SqlConnection>> open_mariadb(const std::string& uri);
[[nodiscard]] base::Result<std::unique_ptr<SqlConnection>> open_postgresql(const std::string& uri);

}  // namespace goban::site::store
