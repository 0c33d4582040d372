#include "site/store/sqlite_copy.hpp"

#include "site/store/sqlite_handle.hpp"

namespace goban::site::store {

namespace {

constexpr int kPatience_ms = 60'000;

base::Result<SqliteHandle> open_database(const std::string& path, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  SqliteHandle database(raw);
  if (code != SQLITE_OK) {
    return base::failed(path + ": " + (raw != nullptr ? sqlite3_errmsg(raw) : "no memory"));
  }
  sqlite3_busy_timeout(raw, kPatience_ms);
  return database;
}

}  // namespace

base::Status copy_sqlite(const std::string& from, const std::string& to) {
  const auto source = open_database(from, SQLITE_OPEN_READWRITE);
  if (!source) return base::failure(source.error());
  const auto target = open_database(to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!target) return base::failure(target.error());
  const auto refuse = [&] { return base::failed(to + ": " + sqlite3_errmsg(target->get())); };
  sqlite3_backup* const copy = sqlite3_backup_init(target->get(), "main", source->get(), "main");
  if (copy == nullptr) return refuse();
  constexpr int kAllPages = -1;
  int code = SQLITE_OK;
  do {
    code = sqlite3_backup_step(copy, kAllPages);
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED) sqlite3_sleep(10);
  } while (code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED);
  if (sqlite3_backup_finish(copy) != SQLITE_OK || code != SQLITE_DONE) return refuse();
  return {};
}

}  // namespace goban::site::store
