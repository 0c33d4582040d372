// Imports into SQLite that are killed, or cannot write, at every change of a file: the database is
// then consistent, and a repeated import has the result of an uninterrupted one.
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <set>
#include <sys/wait.h>

#include "base/test_folder.hpp"
#include "site/store/test_faulty_files.hpp"
#include "site/store/test_stores.hpp"

namespace goban::site::store {
namespace {

constexpr uint32_t kSeed = 20'190'401;

/// An import and the state before it.
struct Scene {
  std::string database;  ///< its path
  std::string before;    ///< a copy of the store before the import; empty = there was none
  std::string file;      ///< what is imported
  std::string expected;  ///< the store's export after it
};

void prepare(const Scene& scene) {
  namespace fs = std::filesystem;
  for (const char* tail : {"", "-wal", "-shm", "-journal"}) fs::remove(scene.database + tail);
  if (!scene.before.empty()) fs::copy_file(scene.before, scene.database);
}

/// Opens the store, imports, closes it.
base::Status import_once(const Scene& scene) {
  auto store = JobStore::open(scene.database, true);
  if (!store) return base::failure(store.error());
  JobImportOptions options;
  options.rows_per_commit = 40;
  auto done = store->import_file(scene.file, options);
  if (!done) return base::failure(done.error());
  return {};
}

/// `known`: rows that may exist. Then imports again.
void check_after_fault(const Scene& scene, const std::set<std::string>& known) {
  {
    auto store = JobStore::open(scene.database, true);
    ASSERT_TRUE(store) << store.error().text();
    EXPECT_EQ(store->connection().query_text("PRAGMA integrity_check")->value_or(""), "ok");
    for (const std::string& row : lines_of(export_of(*store))) {
      ASSERT_TRUE(known.contains(row)) << "an unknown row: " << row;
    }
  }
  const auto again = import_once(scene);
  ASSERT_TRUE(again) << again.error().text();
  JobStore store = open_store(scene.database);
  ASSERT_EQ(export_of(store), scene.expected);
}

std::set<std::string> rows_before_and_after(const Scene& scene) {
  std::set<std::string> known = lines_of(scene.expected);
  prepare(scene);
  JobStore store = open_store(scene.database);
  known.merge(lines_of(export_of(store)));
  return known;
}

/// The number of file changes of an import, opening and closing included.
int64_t count_changes(FaultyFiles& files, const Scene& scene) {
  prepare(scene);
  files.arm(FileFault::Fail, -1);
  const auto status = import_once(scene);
  EXPECT_TRUE(status) << status.error().text();
  const int64_t changes = files.changes();
  files.arm(FileFault::None, 0);
  return changes;
}

void kill_everywhere(FaultyFiles& files, const Scene& scene) {
  const std::set<std::string> known = rows_before_and_after(scene);
  const int64_t changes = count_changes(files, scene);
  ASSERT_GT(changes, 50);
  std::mt19937 random(kSeed);
  int killed = 0;
  for (int64_t at = 1; at <= changes; ++at) {
    const int permille = static_cast<int>(random() % 1001);
    SCOPED_TRACE(
        fmt::format("change {} of {}, {} permille of it, seed {}", at, changes, permille, kSeed));
    prepare(scene);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      files.arm(FileFault::Kill, at, permille);
      _exit(import_once(scene) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    killed += WIFSIGNALED(status) ? 1 : 0;
    check_after_fault(scene, known);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GE(killed, changes - 2);
}

void fail_everywhere(FaultyFiles& files, const Scene& scene) {
  const std::set<std::string> known = rows_before_and_after(scene);
  const int64_t changes = count_changes(files, scene);
  std::mt19937 random(kSeed);
  int told = 0;
  for (int64_t at = 1; at <= changes; at += 3) {
    const int permille = static_cast<int>(random() % 1001);
    SCOPED_TRACE(
        fmt::format("change {} of {}, {} permille of it, seed {}", at, changes, permille, kSeed));
    prepare(scene);
    files.arm(FileFault::Fail, at, permille);
    told += import_once(scene) ? 0 : 1;
    files.arm(FileFault::None, 0);
    check_after_fault(scene, known);
    if (testing::Test::HasFatalFailure()) return;
  }
  // Not every fault fails the import: a journal may remain, a checkpoint may be done later.
  EXPECT_GT(told * 3, changes / 2);
}

class SqliteFaults : public testing::Test {
 public:
  /// Into a store that the import creates, including its tables.
  Scene first_import() {
    write_file(folder_.path() + "/first", many_jobs(120, 8));
    return finished({.database = folder_.path() + "/a.db",
                     .before = {},
                     .file = folder_.path() + "/first",
                     .expected = {}});
  }
  /// From a dump that overlaps existing records and ends jobs that were open.
  Scene next_import() {
    std::string monday = kSacct;
    std::string tuesday = kSacct;
    for (int i = 0; i < 240; ++i) {
      const std::string id = std::to_string(1000 + i);
      const std::string submit = fmt::format("2024-03-{:02}T00:00:00", 1 + i % 31);
      const std::string start = fmt::format("2024-03-{:02}T10:00:00", 1 + i % 31);
      const std::string end = fmt::format("2024-04-0{}T10:00:00", 1 + i % 7);
      if (i < 180) {
        monday += i % 3 == 0 ? sacct(id, submit, "Unknown", "Unknown", "PENDING")
                             : sacct(id, submit, start, end, "COMPLETED");
      }
      if (i > 60) tuesday += sacct(id, submit, start, end, "FAILED");
    }
    const Scene made{.database = folder_.path() + "/b.db",
                     .before = {},
                     .file = folder_.path() + "/monday",
                     .expected = {}};
    write_file(made.file, monday);
    EXPECT_TRUE(import_once(made));
    std::filesystem::copy_file(made.database, folder_.path() + "/b.before");
    write_file(folder_.path() + "/tuesday", tuesday);
    return finished({.database = made.database,
                     .before = folder_.path() + "/b.before",
                     .file = folder_.path() + "/tuesday",
                     .expected = {}});
  }

  FaultyFiles files;

 private:
  static Scene finished(Scene scene) {
    prepare(scene);
    EXPECT_TRUE(import_once(scene));
    JobStore store = open_store(scene.database);
    scene.expected = export_of(store);
    return scene;
  }
  base::TestFolder folder_;
};

TEST_F(SqliteFaults, FirstImportKilledAtEveryChange) { kill_everywhere(files, first_import()); }
TEST_F(SqliteFaults, NextImportKilledAtEveryChange) { kill_everywhere(files, next_import()); }
TEST_F(SqliteFaults, FirstImportOnAFullDisk) { fail_everywhere(files, first_import()); }
TEST_F(SqliteFaults, NextImportOnAFullDisk) { fail_everywhere(files, next_import()); }

}  // namespace
}  // namespace goban::site::store
