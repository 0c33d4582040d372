// Imports into database servers with the connection closed at every piece of what the client sends:
// the database is then consistent, and a repeated import has the result of an uninterrupted one. A
// server accepts complete messages only, so these are all points at which a client can be killed.
#include <gmock/gmock.h>
#include <set>

#include "base/test_folder.hpp"
#include "site/store/test_relay.hpp"
#include "site/store/test_stores.hpp"

namespace goban::site::store {
namespace {

constexpr uint32_t kSeed = 20'200'401;

base::Status import_once(const std::string& location, const std::string& file) {
  auto store = JobStore::open(location, true);
  if (!store) return base::failure(store.error());
  JobImportOptions options;
  options.rows_per_commit = 20;
  options.again = true;
  auto done = store->import_file(file, options);
  if (!done) return base::failure(done.error());
  return {};
}

/// As import_once(); a server may notice with a delay that a writer has disconnected.
base::Status import_after_fault(const std::string& location, const std::string& file) {
  base::Status done = import_once(location, file);
  for (int i = 0; i < 200 && !done; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    done = import_once(location, file);
  }
  return done;
}

void cut_everywhere(ServerProcess& server) {
  if (!server.missing().empty()) GTEST_SKIP() << server.missing();
  const base::TestFolder folder;
  const std::string file = folder.path() + "/jobs";
  write_file(file, many_jobs(60, 6));
  std::string expected;
  {
    const std::string whole = server.fresh();
    ASSERT_TRUE(import_once(whole, file));
    JobStore store = open_store(whole);
    expected = export_of(store);
  }
  const std::set<std::string> known = lines_of(expected);
  CuttingRelay relay(server.relay_socket(), server.socket());

  const std::string counted = server.fresh();
  {
    const JobStore store = open_store(counted);
  }
  relay.cut_at(0, 0);
  ASSERT_TRUE(import_once(server.relayed(counted), file));
  const int64_t pieces = relay.pieces();
  ASSERT_GT(pieces, 10);

  std::mt19937 random(kSeed);
  int told = 0;
  for (int64_t at = 1; at <= pieces; ++at) {
    // Nothing of the piece, a part of it, all of it but no reply.
    const int permille = at % 3 == 0 ? 1000 : at % 3 == 1 ? 0 : static_cast<int>(random() % 1001);
    SCOPED_TRACE(
        fmt::format("piece {} of {}, {} permille of it, seed {}", at, pieces, permille, kSeed));
    const std::string location = server.fresh();
    {
      const JobStore store = open_store(location);
    }
    relay.cut_at(at, permille);
    told += import_once(server.relayed(location), file) ? 0 : 1;
    relay.cut_at(0, 0);
    {
      JobStore store = open_store(location);
      for (const std::string& row : lines_of(export_of(store))) {
        ASSERT_TRUE(known.contains(row)) << "an unknown row: " << row;
      }
    }
    const base::Status again = import_after_fault(location, file);
    ASSERT_TRUE(again) << again.error().text();
    JobStore store = open_store(location);
    ASSERT_EQ(export_of(store), expected);
  }
  // The last pieces close the connection.
  EXPECT_GE(told, pieces - 3);
}

TEST(ServerFaults, PostgreSqlImportCutAtEveryPiece) {
  PostgreSqlServer server;
  cut_everywhere(server);
}
TEST(ServerFaults, MariaDbImportCutAtEveryPiece) {
  MariaDbServer server;
  cut_everywhere(server);
}

}  // namespace
}  // namespace goban::site::store
