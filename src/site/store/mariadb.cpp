// MariaDB: InnoDB tables, rows in statements of about 1 MiB.
#include "site/store/sql.hpp"

#ifdef GOBAN_MARIADB
#include <mysql.h>

#include "base/check.hpp"
#include "base/number.hpp"

namespace goban::site::store {
namespace {

using base::Result;
using base::Status;

constexpr size_t kStatementBytes = size_t{1} << 20;

/// mariadb://USER@HOST[:PORT]/DATABASE[?socket=PATH]
struct Address {
  std::string user, host, database, socket;
  unsigned port = 0;
};

std::optional<Address> parse_uri(std::string_view uri) {
  Address out;
  uri.remove_prefix(uri.find("://") + 3);
  if (const size_t query = uri.find('?'); query != uri.npos) {
    constexpr std::string_view kSocket = "socket=";
    const std::string_view rest = uri.substr(query + 1);
    if (!rest.starts_with(kSocket)) return std::nullopt;
    out.socket = rest.substr(kSocket.size());
    uri = uri.substr(0, query);
  }
  const size_t slash = uri.find('/');
  if (slash == uri.npos || slash + 1 == uri.size()) return std::nullopt;
  out.database = uri.substr(slash + 1);
  uri = uri.substr(0, slash);
  if (const size_t at = uri.rfind('@'); at != uri.npos) {
    out.user = uri.substr(0, at);
    uri.remove_prefix(at + 1);
  }
  if (const size_t colon = uri.rfind(':'); colon != uri.npos) {
    const auto port = base::parse_int(uri.substr(colon + 1));
    if (!port || *port < 1 || *port > UINT16_MAX) return std::nullopt;
    out.port = static_cast<unsigned>(*port);
    uri = uri.substr(0, colon);
  }
  out.host = uri;
  // A password on a command line is visible to all users.
  if (out.user.find(':') != out.user.npos) return std::nullopt;
  return out;
}

class Row final : public SqlRow {
 public:
  MYSQL_ROW fields = nullptr;
  unsigned long* lengths = nullptr;
  bool is_null(size_t column) const override { return fields[column] == nullptr; }
  int64_t whole(size_t column) const override { return base::parse_int(text(column)).value_or(0); }
  double real(size_t column) const override { return base::parse_double(text(column)).value_or(0); }
  std::string_view text(size_t column) const override {
    if (fields[column] == nullptr) return {};
    return {fields[column], lengths[column]};
  }
};

class Connection final : public SqlConnection {
 public:
  explicit Connection(MYSQL* database) : database_(database) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() override { mysql_close(database_); }

  Dialect dialect() const override { return Dialect::MariaDb; }
  tl::unexpected<base::Error> error() {
    return base::failed(std::string("MariaDB: ") + mysql_error(database_));
  }
  Status execute(const std::string& sql) override {
    if (mysql_real_query(database_, sql.data(), sql.size()) != 0) return error();
    return {};
  }
  Status query(const std::string& sql, const std::function<bool(const SqlRow&)>& take) override {
    if (mysql_real_query(database_, sql.data(), sql.size()) != 0) return error();
    MYSQL_RES* const result = mysql_use_result(database_);
    if (result == nullptr) return error();
    Row row;
    bool more = true;
    while (more && (row.fields = mysql_fetch_row(result)) != nullptr) {
      row.lengths = mysql_fetch_lengths(result);
      more = take(row);
    }
    const bool failed = more && mysql_errno(database_) != 0;
    mysql_free_result(result);
    if (failed) return error();
    return {};
  }
  Result<std::unique_ptr<BulkWriter>> bulk(const BulkTable& table) override;
  std::string quoted(std::string_view text) override {
    std::string out = "'";
    append_escaped(out, text);
    return out + "'";
  }
  Status lock_for_writing() override {
    // The server notices with a delay that a writer has disconnected.
    auto got = query_whole("SELECT GET_LOCK(CONCAT('goban:', DATABASE()), 3)");
    if (!got) return base::failure(got.error());
    if (*got == 1) return {};
    return base::failed("another import is writing to this store", "wait until it is done");
  }

  void append_escaped(std::string& out, std::string_view text) {
    const size_t begin = out.size();
    out.resize(begin + 2 * text.size() + 1);
    const unsigned long written =
        mysql_real_escape_string(database_, out.data() + begin, text.data(), text.size());
    out.resize(begin + written);
  }

 private:
  MYSQL* database_;
};

class Writer final : public BulkWriter {
 public:
  Writer(Connection& connection, const BulkTable& table) : connection_(connection) {
    head_ = "INSERT INTO " + table.name + "(";
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const std::string name(table.columns[i]);
      head_ += (i == 0 ? "" : ",") + name;
      if (i < table.num_keys) continue;
      tail_ += tail_.empty() ? " ON DUPLICATE KEY UPDATE " : ",";
      tail_ += name;
      tail_ += "=VALUES(";
      tail_ += name;
      tail_ += ')';
    }
    if (tail_.empty()) {
      const std::string key(table.columns[0]);
      tail_ = " ON DUPLICATE KEY UPDATE " + key + "=" + key;
    }
    head_ += ") VALUES";
    sql_ = head_;
  }
  void null() override { separate() += "NULL"; }
  void whole(int64_t value) override { base::append_number(separate(), value); }
  void real(double value) override { base::append_number(separate(), value); }
  void text(std::string_view value) override {
    separate() += '\'';
    connection_.append_escaped(sql_, value);
    sql_ += '\'';
  }
  Status end_row() override {
    sql_ += ')';
    in_row_ = false;
    ++rows_;
    return sql_.size() >= kStatementBytes ? flush() : Status();
  }
  Status flush() override {
    if (rows_ == 0) return {};
    sql_ += tail_;
    auto status = connection_.execute(sql_);
    sql_ = head_;
    rows_ = 0;
    return status;
  }

 private:
  std::string& separate() {
    if (!in_row_) {
      sql_ += rows_ == 0 ? "(" : ",(";
      in_row_ = true;
    } else {
      sql_ += ',';
    }
    return sql_;
  }
  Connection& connection_;
  std::string head_, tail_, sql_;
  size_t rows_ = 0;
  bool in_row_ = false;
};

Result<std::unique_ptr<BulkWriter>> Connection::bulk(const BulkTable& table) {
  return std::make_unique<Writer>(*this, table);
}

}  // namespace

Result<std::unique_ptr<SqlConnection>> open_mariadb(const std::string& uri) {
  const auto address = parse_uri(uri);
  if (!address) {
    return base::usage_error("the location must name a MariaDB database",
                             "it must be mariadb://USER@HOST[:PORT]/DATABASE[?socket=PATH]; the "
                             "password goes into the group [goban] of ~/.my.cnf");
  }
  MYSQL* const database = mysql_init(nullptr);
  auto connection = std::make_unique<Connection>(database);
  mysql_options(database, MYSQL_READ_DEFAULT_GROUP, "goban");
  mysql_options(database, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  const auto unless_empty = [](const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
  };
  if (mysql_real_connect(database, unless_empty(address->host), unless_empty(address->user),
                         nullptr, address->database.c_str(), address->port,
                         unless_empty(address->socket), 0) == nullptr) {
    return connection->error();
  }
  auto status = connection->execute(
      "SET SESSION sql_mode='STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', SESSION "
      "time_zone='+00:00'");
  if (!status) return base::failure(status.error());
  return connection;
}

}  // namespace goban::site::store

#else

namespace goban::site::store {

base::Result<std::unique_ptr<SqlConnection>> open_mariadb(const std::string&) {
  return base::usage_error("this goban was built without MariaDB",
                           "install libmariadb-dev and build again");
}

}  // namespace goban::site::store

#endif
