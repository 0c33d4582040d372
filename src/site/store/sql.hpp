// The database layer of the store: three databases behind one connection interface, values bound or
// escaped by the adapter, bulk writing that replaces rows with equal keys. SQL differs only where
// Dialect is used.
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

/// One row of a result; columns from 0. Texts are valid until the next row.
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

/// Writes rows, a value for each column in order; a row with an existing key is replaced. Rows are
/// in the table only after flush().
class BulkWriter {
 public:
  virtual ~BulkWriter() = default;
  virtual void null() = 0;
  virtual void whole(int64_t value) = 0;
  virtual void real(double value) = 0;
  /// Valid UTF-8 without NUL, see valid_text(); must be valid until end_row().
  virtual void text(std::string_view value) = 0;
  /// Errors: Failed, with the database's message.
  [[nodiscard]] virtual base::Status end_row() = 0;
  [[nodiscard]] virtual base::Status flush() = 0;
};

/// One connection, used by one thread at a time.
class SqlConnection {
 public:
  virtual ~SqlConnection() = default;
  [[nodiscard]] virtual Dialect dialect() const = 0;
  /// Statements without results. Errors: Failed, with the database's message.
  [[nodiscard]] virtual base::Status execute(const std::string& sql) = 0;
  /// Calls back for every row until it returns false.
  [[nodiscard]] virtual base::Status query(const std::string& sql,
                                           const std::function<bool(const SqlRow&)>& take) = 0;
  [[nodiscard]] virtual base::Result<std::unique_ptr<BulkWriter>> bulk(const BulkTable& table) = 0;
  /// The text as a literal, quotes included.
  [[nodiscard]] virtual std::string quoted(std::string_view text) = 0;
  /// Start and end of a large import, into an empty or a non-empty store: hooks for optimisations
  /// of a database. Transactional guarantees do not change.
  [[nodiscard]] virtual base::Status begin_bulk(bool /*empty*/) { return {}; }
  [[nodiscard]] virtual base::Status end_bulk() { return {}; }
  /// Runs a statement that creates an index of many rows. Not within a transaction.
  [[nodiscard]] virtual base::Status create_index(const std::string& sql) { return execute(sql); }
  /// Excludes other writers until the connection closes. Errors: Failed if there is one.
  [[nodiscard]] virtual base::Status lock_for_writing() = 0;

  // Implemented by the functions above.
  /// The first column of the first row; none if there is no row or it is NULL.
  [[nodiscard]] base::Result<std::optional<int64_t>> query_whole(const std::string& sql);
  [[nodiscard]] base::Result<std::optional<std::string>> query_text(const std::string& sql);
};

/// True for `sqlite:PATH`, `mariadb://...`, `mysql://...`, `postgresql://...`, `postgres://...`,
/// and for files that are SQLite databases.
[[nodiscard]] bool is_store_location(const std::string& location);

/// Opens a database: a path or `sqlite:PATH`; `mariadb://USER@HOST[:PORT]/DATABASE[?socket=PATH]`
/// (password from the group [goban] of the MariaDB option files); a PostgreSQL URI (password from
/// ~/.pgpass). With `create` a missing SQLite file is created; databases on servers must exist.
/// Errors: Failed, Usage (not built in, unknown kind).
[[nodiscard]] base::Result<std::unique_ptr<SqlConnection>> open_connection(
    const std::string& location, bool create);

/// The text itself if it is valid; otherwise a copy in `buffer`, with U+FFFD for invalid UTF-8 and
/// NUL.
[[nodiscard]] std::string_view valid_text(std::string_view text, std::string& buffer);

// Adapters. Errors: Usage if the program was built without the library.
[[nodiscard]] base::Result<std::unique_ptr<SqlConnection>> open_sqlite(const std::string& path,
                                                                       bool create);
[[nodiscard]] base::Result<std::unique_ptr<SqlConnection>> open_mariadb(const std::string& uri);
[[nodiscard]] base::Result<std::unique_ptr<SqlConnection>> open_postgresql(const std::string& uri);

}  // namespace goban::site::store
