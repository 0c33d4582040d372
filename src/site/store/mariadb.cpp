// MariaDB: InnoDB tables, rows in statements of about 1 MiB.
#include "site/store/sql.hpp"

#ifdef GOBAN_MARIADB
#include <mysql.h>

#include "base/check.hpp"
#include "base/number.hpp"
#include "site/store/client_library.hpp"

namespace goban::site::store {
namespace {

using base::Result;
using base::Status;

constexpr size_t kStatementBytes = size_t{1} << 20;

/// Functions of the client library that are used here, as its header declares them.
struct Functions {
  decltype(&mysql_init) init = nullptr;
  decltype(&mysql_close) close = nullptr;
  decltype(&mysql_options) options = nullptr;
  decltype(&mysql_real_connect) connect = nullptr;
  decltype(&mysql_error) error = nullptr;
  decltype(&mysql_errno) error_code = nullptr;
  decltype(&mysql_real_query) query = nullptr;
  decltype(&mysql_use_result) use_result = nullptr;
  decltype(&mysql_fetch_row) fetch_row = nullptr;
  decltype(&mysql_fetch_lengths) fetch_lengths = nullptr;
  decltype(&mysql_free_result) free_result = nullptr;
  decltype(&mysql_real_escape_string) escape = nullptr;
};

Result<Functions> load_functions() {
  auto library = ClientLibrary::load("libmariadb.so.3",
                                     "install MariaDB's client library (Debian: libmariadb3)");
  if (!library) return base::failure(library.error());
  Functions f;
  library->find(f.init, "mysql_init");
  library->find(f.close, "mysql_close");
  library->find(f.options, "mysql_options");
  library->find(f.connect, "mysql_real_connect");
  library->find(f.error, "mysql_error");
  library->find(f.error_code, "mysql_errno");
  library->find(f.query, "mysql_real_query");
  library->find(f.use_result, "mysql_use_result");
  library->find(f.fetch_row, "mysql_fetch_row");
  library->find(f.fetch_lengths, "mysql_fetch_lengths");
  library->find(f.free_result, "mysql_free_result");
  library->find(f.escape, "mysql_real_escape_string");
  if (auto status = library->complete(); !status) return base::failure(status.error());
  return f;
}

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
  explicit Connection(const Functions& f) : f_(f), database_(f.init(nullptr)) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() override { f_.close(database_); }

  MYSQL* database() { return database_; }
  Dialect dialect() const override { return Dialect::MariaDb; }
  tl::unexpected<base::Error> error() {
    return base::failed(std::string("MariaDB: ") + f_.error(database_));
  }
  Status execute(const std::string& sql) override {
    if (f_.query(database_, sql.data(), sql.size()) != 0) return error();
    return {};
  }
  Status query(const std::string& sql, const std::function<bool(const SqlRow&)>& take) override {
    if (f_.query(database_, sql.data(), sql.size()) != 0) return error();
    MYSQL_RES* const result = f_.use_result(database_);
    if (result == nullptr) return error();
    Row row;
    bool more = true;
    while (more && (row.fields = f_.fetch_row(result)) != nullptr) {
      row.lengths = f_.fetch_lengths(result);
      more = take(row);
    }
    const bool failed = more && f_.error_code(database_) != 0;
    f_.free_result(result);
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
        f_.escape(database_, out.data() + begin, text.data(), text.size());
    out.resize(begin + written);
  }

 private:
  Functions f_;
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
  const auto f = load_functions();
  if (!f) return base::failure(f.error());
  auto connection = std::make_unique<Connection>(*f);
  MYSQL* const database = connection->database();
  f->options(database, MYSQL_READ_DEFAULT_GROUP, "goban");
  f->options(database, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  const auto unless_empty = [](const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
  };
  if (f->connect(database, unless_empty(address->host), unless_empty(address->user), nullptr,
                 address->database.c_str(), address->port, unless_empty(address->socket),
                 0) == nullptr) {
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
