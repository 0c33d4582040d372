#include "site/store/sql.hpp"

#include <array>
#include <filesystem>
#include <fstream>

#include "base/printable.hpp"

namespace goban::site::store {

std::string_view valid_text(std::string_view text, std::string& buffer) {
  size_t good = 0;
  while (good < text.size()) {
    if (text[good] > 0) {
      ++good;
      continue;
    }
    const size_t bytes = base::utf8_bytes(text.substr(good));
    if (bytes == 0) break;
    good += bytes;
  }
  if (good == text.size()) return text;
  buffer.assign(text.substr(0, good));
  text.remove_prefix(good);
  while (!text.empty()) {
    const size_t bytes = base::utf8_bytes(text);
    buffer += bytes == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return buffer;
}

base::Result<std::optional<int64_t>> SqlConnection::query_whole(const std::string& sql) {
  std::optional<int64_t> out;
  auto status = query(sql, [&out](const SqlRow& row) {
    if (!row.is_null(0)) out = row.whole(0);
    return false;
  });
  if (!status) return base::failure(status.error());
  return out;
}

base::Result<std::optional<std::string>> SqlConnection::query_text(const std::string& sql) {
  std::optional<std::string> out;
  auto status = query(sql, [&out](const SqlRow& row) {
    if (!row.is_null(0)) out = row.text(0);
    return false;
  });
  if (!status) return base::failure(status.error());
  return out;
}

bool is_store_location(const std::string& location) {
  constexpr std::array<std::string_view, 5> kKinds = {"sqlite:", "mariadb://", "mysql://",
                                                      "postgresql://", "postgres://"};
  for (const std::string_view kind : kKinds) {
    if (location.starts_with(kind)) return true;
  }
  // What is read from a pipe is gone.
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(location, ignored)) return false;
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  std::array<char, kMagic.size()> head{};
  std::ifstream file(location, std::ios::binary);
  return file.read(head.data(), head.size()) &&
         std::string_view(head.data(), head.size()) == kMagic;
}

base::Result<std::unique_ptr<SqlConnection>> open_connection(const std::string& location,
                                                             bool create) {
  if (location.starts_with("mariadb://") || location.starts_with("mysql://")) {
    return open_mariadb(location);
  }
  if (location.starts_with("postgresql://") || location.starts_with("postgres://")) {
    return open_postgresql(location);
  }
  constexpr std::string_view kSqlite = "sqlite:";
  if (location.starts_with(kSqlite)) return open_sqlite(location.substr(kSqlite.size()), create);
  if (const size_t colon = location.find("://"); colon != std::string::npos) {
    return base::usage_error("unknown kind of store: " + location.substr(0, colon),
                             "it must be a file, sqlite:PATH, mariadb://... or postgresql://...");
  }
  return open_sqlite(location, create);
}

}  // namespace goban::site::store
