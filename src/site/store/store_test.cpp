// The same checks on SQLite, MariaDB and PostgreSQL; the test starts the servers.
#include <csignal>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <random>
#include <sys/wait.h>

#include "base/test_folder.hpp"
#include "site/records/record_csv.hpp"
#include "site/records/record_table.hpp"
#include "site/store/test_store_checks.hpp"
#include "site/store/test_stores.hpp"

namespace goban::site::store {
namespace {

using records::AccountingRecord;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The CSV after it was read into a table, which expands node lists.
std::string normalised(const std::string& csv) {
  RecordTable table;
  base::MemorySource source(csv);
  EXPECT_TRUE(records::read_records(source, "csv", {}, table));
  std::string out = records::records_csv_header();
  RecordTable::RecordBuffers buffers;
  for (size_t i = 0; i < table.rows().size(); ++i) {
    records::append_records_csv(out, table.record(i, buffers));
  }
  return out;
}

}  // namespace

void check_round_trip(TestServer& server) {
  JobStore store = open_store(server.fresh());
  const std::string csv = many_jobs(1000, 1);
  JobImportOptions options;
  options.rows_per_commit = 300;
  const ImportSummary summary = import_text(store, csv, options);
  EXPECT_EQ(summary.written, 1000);
  EXPECT_EQ(summary.read.rejected, 0);
  EXPECT_EQ(export_of(store), normalised(csv));
  const Selection some{
      .from_ns = at("2019-04-01 00:00:00"), .to_ns = at("2019-04-10 00:00:00"), .user = "user3"};
  const std::string part = export_of(store, some);
  EXPECT_THAT(part, HasSubstr("user3"));
  EXPECT_EQ(part.find("user4"), std::string::npos);
  EXPECT_LT(part.size(), csv.size() / 10);
  EXPECT_EQ(export_of(store, {.user = "nobody"}), records::records_csv_header());
}

void check_same_file_again(TestServer& server) {
  JobStore store = open_store(server.fresh());
  const std::string csv = many_jobs(300, 2);
  EXPECT_FALSE(import_text(store, csv).was_imported);
  const std::string before = export_of(store);
  EXPECT_TRUE(import_text(store, csv).was_imported);
  JobImportOptions again;
  again.again = true;
  EXPECT_EQ(import_text(store, csv, again).written, 300);
  EXPECT_EQ(export_of(store), before);
}

void check_growing_dumps(TestServer& server) {
  JobStore store = open_store(server.fresh());
  const std::string monday =
      kSacct +
      sacct("1", "2024-02-29T10:00:00", "2024-02-29T10:00:01", "2024-02-29T11:00:00", "COMPLETED") +
      sacct("2", "2024-02-29T10:00:00", "2024-02-29T10:00:02", "Unknown", "RUNNING") +
      sacct("3", "2024-02-29T10:00:00", "Unknown", "Unknown", "PENDING");
  const std::string tuesday =
      kSacct +
      sacct("2", "2024-02-29T10:00:00", "2024-02-29T10:00:02", "2024-03-01T00:00:00", "REQUEUED") +
      sacct("2", "2024-03-01T00:00:00", "2024-03-01T00:00:09", "2024-03-01T01:00:00", "FAILED") +
      sacct("3", "2024-02-29T10:00:00", "Unknown", "2024-03-01T00:00:00", "CANCELLED by 7") +
      sacct("4", "2024-03-01T10:00:00", "2024-03-01T10:00:01", "Unknown", "RUNNING");
  ImportSummary summary = import_text(store, monday);
  EXPECT_EQ(summary.written, 3);
  EXPECT_EQ(summary.unfinished, 2);
  summary = import_text(store, tuesday);
  EXPECT_EQ(summary.written, 4);
  EXPECT_EQ(summary.unfinished, 1);
  const std::string after = export_of(store);
  RecordTable table;
  ASSERT_TRUE(store.read({}, table));
  std::vector<std::string> seen;
  for (size_t i = 0; i < table.rows().size(); ++i) {
    seen.push_back(fmt::format("{}#{} {}", table.id(i), table.rows()[i].run,
                               records::job_state_name(table.rows()[i].state)));
  }
  EXPECT_THAT(seen, ElementsAre("1#0 COMPLETED", "2#0 REQUEUED", "2#1 FAILED", "3#0 CANCELLED",
                                "4#0 RUNNING"));
  EXPECT_EQ(store.connection().query_whole("SELECT COUNT(*) FROM goban_open")->value(), 1);
  // An old dump does not bring back a finished job.
  JobImportOptions again;
  again.again = true;
  EXPECT_EQ(import_text(store, monday, again).outdated, 2);
  EXPECT_EQ(export_of(store), after);
}

void check_fiscal_years(TestServer& server) {
  JobStore store = open_store(server.fresh());
  import_text(store, kSacct +
                         sacct("1", "2020-03-31T23:59:59", "2020-04-02T00:00:00",
                               "2020-04-02T01:00:00", "COMPLETED") +
                         sacct("2", "2020-04-01T00:00:00", "2020-04-02T00:00:00",
                               "2020-04-02T01:00:00", "COMPLETED") +
                         sacct("3", "2021-03-31T23:59:59", "2021-04-02T00:00:00",
                               "2021-04-02T01:00:00", "COMPLETED"));
  EXPECT_THAT(years_of(store), ElementsAre(2019, 2020));
  EXPECT_EQ(store.partition_facts()->at(1).jobs, 2);
  EXPECT_EQ(store.connection().query_whole("SELECT COUNT(*) FROM goban_jobs")->value(), 3);
  EXPECT_THAT(*store.drop_before(2020), ElementsAre(2019));
  EXPECT_THAT(years_of(store), ElementsAre(2020));
  EXPECT_EQ(store.connection().query_whole("SELECT COUNT(*) FROM goban_jobs")->value(), 2);
  EXPECT_THAT(*store.drop_before(2020), IsEmpty());
}

void check_odd_texts(TestServer& server) {
  JobStore store = open_store(server.fresh());
  const std::vector<std::string> odd = {
      "it's",      "back\\slash", "tab\there", "\xc3\xa4\xe6\x97\xa5",
      "\xff bad",  "\\N",         "blank ",    "blank",
      "100%_like", "NULL",        "A",         "a"};
  std::string csv = "job_id,user,submit_unix_s,start_unix_s,end_unix_s\n";
  for (const std::string& user : odd)
    csv += fmt::format("{0},{0},1600000000,1600000001,1600000002\n", user);
  const ImportSummary summary = import_text(store, csv);
  EXPECT_EQ(summary.read.rejected, 0);
  RecordTable table;
  ASSERT_TRUE(store.read({}, table));
  std::vector<std::string> users;
  for (size_t i = 0; i < table.rows().size(); ++i) {
    users.emplace_back(table.users()[table.rows()[i].user]);
    EXPECT_EQ(users.back(), table.id(i));
  }
  std::vector<std::string> expected = odd;
  expected[4] = "\xef\xbf\xbd bad";
  EXPECT_THAT(users, testing::UnorderedElementsAreArray(expected));
}

void check_refusals(TestServer& server) {
  JobStore store = open_store(server.fresh());
  const base::TestFolder folder;
  JobImportOptions options;
  options.reading.rejects_path = folder.path() + "/rejects.csv";
  const ImportSummary summary =
      import_text(store,
                  "job_id,submit_unix_s,start_unix_s,end_unix_s\n" + std::string(191, 'x') +
                      ",1,2,3\na,1,3,2\nb,1,2,3\nb,1,2,3\n,1,2,3\n",
                  options);
  EXPECT_EQ(summary.read.records, 5);
  EXPECT_EQ(summary.written, 1);
  std::ifstream file(options.reading.rejects_path);
  const std::string rejects{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(rejects, HasSubstr("2,job_id is longer than 190 bytes,"));
  EXPECT_THAT(rejects, HasSubstr("3,the job ended before it started,"));
  EXPECT_THAT(rejects, HasSubstr("5,job_id b with this start was used before,"));
  EXPECT_THAT(rejects, HasSubstr("6,job_id is empty,"));
  // After a bad file the store is usable.
  write_file(folder.path() + "/bad", "no,such,header\n1,2,3\n");
  EXPECT_FALSE(store.import_file(folder.path() + "/bad", {}));
  EXPECT_EQ(import_text(store, many_jobs(10, 3)).written, 10);
}

/// Reverts the store to the state that an older schema version leaves.
void age(JobStore& store, int version) {
  SqlConnection& sql = store.connection();
  const auto run = [&sql](const std::string& text) {
    const auto status = sql.execute(text);
    EXPECT_TRUE(status) << (status ? "" : status.error().text());
  };
  run("DROP VIEW goban_jobs");
  run("ALTER TABLE goban_jobs_fy2018 DROP COLUMN details");
  if (version < 5 && version > 2) {
    const bool is_mariadb = sql.dialect() == Dialect::MariaDb;
    run("CREATE TABLE goban_seen_copy AS SELECT job_id,cluster_id,fiscal_year,kind,name_id,seen_ns "
        "FROM goban_seen");
    run("DROP TABLE goban_seen");
    run(fmt::format(
        "CREATE TABLE goban_seen(job_id {} NOT NULL, cluster_id INTEGER NOT NULL, "
        "fiscal_year INTEGER NOT NULL, kind INTEGER NOT NULL, name_id INTEGER NOT NULL, "
        "seen_ns BIGINT NOT NULL, PRIMARY "
        "KEY(job_id,cluster_id,fiscal_year,kind,name_id)){}",
        is_mariadb                             ? "VARCHAR(190)"
        : sql.dialect() == Dialect::PostgreSql ? "TEXT COLLATE \"C\""
                                               : "TEXT",
        is_mariadb ? " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin" : ""));
    run("INSERT INTO goban_seen SELECT * FROM goban_seen_copy");
    run("DROP TABLE goban_seen_copy");
  }
  if (version < 4) run("ALTER TABLE goban_jobs_fy2018 DROP COLUMN energy_j");
  if (version < 3) {
    run("DROP TABLE goban_seen");
    run("DROP TABLE goban_daily");
  }
  if (version < 2) {
    run(std::string("DROP INDEX goban_jobs_fy2018_user") +
        (sql.dialect() == Dialect::MariaDb ? " ON goban_jobs_fy2018" : ""));
  }
  run(fmt::format("UPDATE goban_meta SET value='{}' WHERE name='schema_version'", version));
}

void import_seen_of_1(JobStore& store, const std::string& name, const std::string& time) {
  const base::TestFolder folder;
  write_file(folder.path() + "/seen", "time,job_id,name\n" + time + ",1," + name + "\n");
  const auto summary = store.import_seen_file(folder.path() + "/seen", {});
  ASSERT_TRUE(summary) << summary.error().text();
  EXPECT_EQ(summary->written, 1);
}

void check_migration(TestServer& server) {
  for (const int version : {1, 2, 3, 4, 5}) {
    const std::string location = server.fresh();
    std::string before;
    {
      JobStore store = open_store(location);
      import_text(store, many_jobs(50, 4));
      if (version > 2) import_seen_of_1(store, "cuda/12", "2019-03-21T12:00:00");
      before = export_of(store);
      age(store, version);
    }
    {
      JobStore store = open_store(location);
      EXPECT_EQ(export_of(store), before) << version;
      SqlConnection& sql = store.connection();
      EXPECT_EQ(**sql.query_whole("SELECT value FROM goban_meta WHERE name='schema_version'"),
                kSchemaVersion);
      EXPECT_EQ(import_text(store, many_jobs(60, 4)).written, 60);
      // A row that would have replaced the other one in the old version.
      const int64_t sightings = **sql.query_whole("SELECT COUNT(*) FROM goban_seen");
      EXPECT_EQ(sightings, version > 2 ? 1 : 0);
      EXPECT_EQ(**sql.query_whole(
                    fmt::format("SELECT COUNT(*) FROM goban_seen WHERE job_id='1' AND seen_slot={}",
                                at("2019-03-21 12:00:00") / kSeenSlotNs)),
                sightings);
      import_seen_of_1(store, "cuda/12", "2019-03-21T13:00:00");
      EXPECT_EQ(**sql.query_whole("SELECT COUNT(*) FROM goban_seen"), sightings + 1);
      age(store, 1);  // fails if the index or a table is missing
      ASSERT_TRUE(sql.execute("UPDATE goban_meta SET value='99' WHERE name='schema_version'"));
    }
    const auto newer = JobStore::open(location, true);
    ASSERT_FALSE(newer);
    EXPECT_EQ(newer.error().code, base::ErrorCode::BadData);
    EXPECT_THAT(newer.error().text(), HasSubstr("schema version 99"));
  }
}

void check_one_writer(TestServer& server) {
  const std::string location = server.fresh();
  JobStore first = open_store(location);
  ASSERT_TRUE(first.connection().lock_for_writing());
  {
    JobStore second = open_store(location);
    const auto refused = second.import_file("/dev/null", {});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().text(), HasSubstr("another import"));
  }
  EXPECT_EQ(import_text(first, many_jobs(5, 5)).written, 5);
}

void check_killed_imports(TestServer& server) {
  const std::string csv = many_jobs(4000, 6);
  const std::string expected = normalised(csv);
  const base::TestFolder folder;
  const std::string file = folder.path() + "/jobs";
  write_file(file, csv);
  const std::string location = server.fresh();
  {
    JobStore store = open_store(location);
  }
  std::mt19937 random(7);
  int killed = 0;
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto store = JobStore::open(location, true);
      JobImportOptions options;
      options.again = true;
      options.rows_per_commit = 50;
      // Every second one is killed when it reads a certain block, the others at arbitrary times.
      options.reading.progress = [i, blocks = 0](int64_t, int64_t) mutable {
        if (i % 2 == 0 && ++blocks > i / 4) raise(SIGKILL);
      };
      const bool good = store && store->import_file(file, options);
      _exit(good ? 0 : 1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2 + random() % 40));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    killed += WIFSIGNALED(status) ? 1 : 0;
  }
  EXPECT_GT(killed, 0);
  JobStore store = open_store(location);
  // A server may notice with a delay that a killed writer has disconnected.
  base::Result<ImportSummary> last = store.import_file(file, {.again = true});
  for (int i = 0; i < 50 && !last; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    last = store.import_file(file, {.again = true});
  }
  ASSERT_TRUE(last) << last.error().text();
  EXPECT_EQ(export_of(store), expected);
}

namespace {

class OnSqlite : public testing::TestWithParam<ServerCheck> {};
TEST_P(OnSqlite, Does) {
  SqliteServer server;
  GetParam().run(server);
}
INSTANTIATE_TEST_SUITE_P(Store, OnSqlite, testing::ValuesIn(kStoreChecks),
                         [](const auto& check) { return std::string(check.param.name); });

/// One test per server, as starting it takes longer than the checks.
void run_all(TestServer& server) {
  if (!server.missing().empty()) GTEST_SKIP() << server.missing();
  for (const ServerCheck& check : kStoreChecks) {
    SCOPED_TRACE(check.name);
    check.run(server);
  }
}

TEST(StoreOnServer, PostgreSqlDoesAllOfIt) {
  PostgreSqlServer server;
  run_all(server);
}

TEST(StoreOnServer, MariaDbDoesAllOfIt) {
  MariaDbServer server;
  run_all(server);
}

TEST(StoreLocations, AreToldAndRefused) {
  EXPECT_TRUE(is_store_location("postgresql:///x"));
  EXPECT_TRUE(is_store_location("sqlite:x.db"));
  EXPECT_FALSE(is_store_location("jobs.csv"));
  EXPECT_THAT(open_connection("oracle://x", true).error().text(),
              HasSubstr("unknown kind of store: oracle"));
  EXPECT_THAT(open_connection("/nowhere/at/all.db", false).error().text(),
              HasSubstr("no store at"));
  EXPECT_THAT(open_connection("mariadb://a:secret@h/db", false).error().text(),
              HasSubstr("password goes into"));
}

TEST(StoreLocations, OtherFilesAreNoStores) {
  const base::TestFolder folder;
  write_file(folder.path() + "/x", "job_id,user and much more text than a header of SQLite has\n");
  const auto store = JobStore::open(folder.path() + "/x", false);
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().text(), HasSubstr("check that it is a goban store"));
  EXPECT_EQ(store.error().code, base::ErrorCode::BadData);
  write_file(folder.path() + "/empty", "");
  const auto empty = JobStore::open(folder.path() + "/empty", false);
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, base::ErrorCode::BadData);
  EXPECT_TRUE(JobStore::open(folder.path() + "/empty", true));
}

TEST(FiscalYears, BeginInApril) {
  EXPECT_EQ(fiscal_year(at("2020-03-31 23:59:59"), 4), 2019);
  EXPECT_EQ(fiscal_year(at("2020-04-01 00:00:00"), 4), 2020);
  EXPECT_EQ(fiscal_year(at("2020-02-29 12:00:00"), 1), 2020);
  EXPECT_EQ(fiscal_year(0, 4), 1969);
  EXPECT_EQ(fiscal_year_begin(2020, 4), at("2020-04-01 00:00:00"));
}

TEST(ValidText, ReplacesWhatIsNoUtf8) {
  std::string buffer;
  EXPECT_EQ(valid_text("pl\xc3\xa4in", buffer), "pl\xc3\xa4in");
  EXPECT_EQ(valid_text("a\xff\xc3", buffer), "a\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(valid_text(std::string_view("a\0b", 3), buffer),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(valid_text("\xed\xa0\x80", buffer).size(), 9u);  // a surrogate
  EXPECT_EQ(valid_text("\xc0\xaf", buffer).size(), 6u);      // overlong
  EXPECT_EQ(valid_text("\xf0\x9f\x98\x80", buffer).size(), 4u);
}

}  // namespace
}  // namespace goban::site::store
