// An open SQLite database that closes itself.
#pragma once

#include <memory>
#include <sqlite3.h>

namespace goban::site::store {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
using SqliteHandle = std::unique_ptr<sqlite3, CloseDatabase>;

}  // namespace goban::site::store
