#include "live/journal/journal_file.hpp"

#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/test_folder.hpp"
#include "live/journal/journal_folder.hpp"
#include "live/journal/state_lock.hpp"

namespace goban::live::journal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string folder_of(const base::TestFolder& test) { return test / "journal"; }

OpenJournal opened(const std::string& folder, FileCalls* calls = nullptr) {
  auto journal = open_journal(folder, {.build = "test", .calls = calls});
  EXPECT_TRUE(journal) << journal.error().text();
  return journal ? std::move(*journal) : OpenJournal{};
}

void keep(RecordLog& log, const std::vector<std::string>& records) {
  for (const auto& record : records) log.append(record);
  const auto kept = log.commit();
  EXPECT_TRUE(kept) << kept.error().text();
}

std::string newest_journal(const std::string& folder) {
  return journal_path(folder, generations_in(folder)->back());
}

TEST(JournalFile, KeepsWhatWasCommitted) {
  const base::TestFolder test;
  {
    auto journal = opened(folder_of(test));
    EXPECT_THAT(journal.recovered.records, IsEmpty());
    keep(*journal.log, {"a", "b"});
    keep(*journal.log, {"c"});
    EXPECT_GT(journal.log->bytes_since_snapshot(), 0);
    journal.log->append("never committed");
  }
  const auto journal = opened(folder_of(test));
  EXPECT_EQ(journal.recovered.snapshot, "");
  EXPECT_THAT(journal.recovered.records, ElementsAre("a", "b", "c"));
  EXPECT_THAT(journal.recovered.notes, IsEmpty());
}

TEST(JournalFile, SnapshotReplacesWhatCameBefore) {
  const base::TestFolder test;
  for (int round = 0; round < 4; ++round) {
    auto journal = opened(folder_of(test));
    if (round > 0) {
      EXPECT_EQ(journal.recovered.snapshot, fmt::format("state {}", round - 1));
      EXPECT_THAT(journal.recovered.records, ElementsAre("after"));
    }
    keep(*journal.log, {"before"});
    ASSERT_TRUE(journal.log->compact(fmt::format("state {}", round)));
    EXPECT_EQ(journal.log->bytes_since_snapshot(), 0);
    keep(*journal.log, {"after"});
  }
  // This generation and the previous one.
  EXPECT_THAT(*generations_in(folder_of(test)), SizeIs(2));
}

TEST(JournalFile, ReadingChangesNothing) {
  const base::TestFolder test;
  auto journal = opened(folder_of(test));
  keep(*journal.log, {"a"});
  const auto before = generations_in(folder_of(test)).value();
  const auto read = read_journal(folder_of(test));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_THAT(read->records, ElementsAre("a"));
  EXPECT_TRUE(read_journal(newest_journal(folder_of(test))));
  EXPECT_EQ(generations_in(folder_of(test)).value(), before);
  keep(*journal.log, {"b"});  // it was not fenced
  EXPECT_FALSE(read_journal(test / "nowhere"));
  EXPECT_FALSE(read_journal(test.path()));
}

TEST(JournalFile, SaysWhatItsRecordsWereMadeWith) {
  const base::TestFolder test;
  const auto begin = [&](const char* policy) {
    auto journal = open_journal(folder_of(test), {.made_with = {{"policy", policy}}});
    EXPECT_TRUE(journal) << journal.error().text();
    return std::move(*journal);
  };
  const auto found = [&](const std::string& path) {
    const auto read = read_journal_contents(path);
    EXPECT_TRUE(read) << read.error().text();
    return read ? read->made_with : std::vector<MadeWith>{};
  };
  using List = std::vector<MadeWith>;
  const auto made = [](uint64_t from, const char* policy) {
    return MadeWith{.from = from, .facts = {{"policy", policy}}};
  };
  keep(*opened(folder_of(test)).log, {"of a release that does not say"});
  {
    auto journal = begin("one");
    EXPECT_EQ(journal.made_with, List{});
    keep(*journal.log, {"a", "b"});
  }
  begin("one");  // the same facts add no entry
  {
    auto journal = begin("two");
    EXPECT_EQ(journal.made_with, List{made(1, "one")});
    EXPECT_EQ(found(folder_of(test)), (List{made(1, "one"), made(3, "two")}));
    keep(*journal.log, {"c"});
  }
  // A start without writes created nothing.
  begin("three");
  std::ofstream(newest_journal(folder_of(test)), std::ios::app) << "0123abcd 99 9.0 half";
  auto journal = begin("four");
  EXPECT_EQ(journal.recovered.records.size(), 4U);
  EXPECT_EQ(found(folder_of(test)), (List{made(1, "one"), made(3, "two"), made(4, "four")}));
  EXPECT_EQ(journals_in(folder_of(test)).value().size(), 2U);
  ASSERT_TRUE(journal.log->compact("state"));
  keep(*journal.log, {"d"});
  EXPECT_EQ(found(folder_of(test)), List{made(0, "four")});
  // Without its snapshot the previous generation is used.
  const auto newest = generations_in(folder_of(test))->back();
  std::filesystem::remove(snapshot_path(folder_of(test), newest));
  EXPECT_EQ(found(folder_of(test)), (List{made(1, "one"), made(3, "two"), made(4, "four")}));
  EXPECT_FALSE(journals_in(test / "nowhere"));
}

TEST(JournalFile, TornTailIsCutOffAndKept) {
  const base::TestFolder test;
  std::string path;
  {
    auto journal = opened(folder_of(test));
    keep(*journal.log, {"a"});
    keep(*journal.log, {"b"});
    path = newest_journal(folder_of(test));
  }
  std::ofstream(path, std::ios::app) << "0123abcd 99 3.0 half a reco";
  const auto journal = opened(folder_of(test));
  EXPECT_THAT(journal.recovered.records, ElementsAre("a", "b"));
  ASSERT_THAT(journal.recovered.notes, SizeIs(2));
  EXPECT_THAT(journal.recovered.notes[0], HasSubstr("the last 27 bytes"));
  const std::string torn = path.substr(0, path.size() - 4) + ".torn";
  EXPECT_THAT(journal.recovered.notes[1], HasSubstr(torn));
  EXPECT_EQ(read_whole(torn).value(), "0123abcd 99 3.0 half a reco");
}

TEST(JournalFile, DamageInTheMiddleStopsTheStart) {
  const base::TestFolder test;
  std::string path;
  {
    auto journal = opened(folder_of(test));
    keep(*journal.log, {"alpha"});
    keep(*journal.log, {"beta"});
    path = newest_journal(folder_of(test));
  }
  std::string text = read_whole(path).value();
  text[text.find("alpha")] = 'A';
  std::ofstream(path) << text;
  const auto journal = open_journal(folder_of(test), {});
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, base::ErrorCode::BadData);
  EXPECT_THAT(journal.error().text(), HasSubstr(path));
  EXPECT_THAT(journal.error().text(), HasSubstr("backup"));
  EXPECT_EQ(read_whole(path).value(), text);
}

/// One snapshot with records before and after it.
std::string with_snapshot(const base::TestFolder& test) {
  auto journal = opened(folder_of(test));
  keep(*journal.log, {"one"});
  EXPECT_TRUE(journal.log->compact("state of one"));
  keep(*journal.log, {"two"});
  EXPECT_TRUE(journal.log->compact("state of two"));
  keep(*journal.log, {"three"});
  return snapshot_path(folder_of(test), generations_in(folder_of(test))->back());
}

TEST(JournalFile, DamagedSnapshotIsMadeUpForByTheGenerationBefore) {
  const base::TestFolder test;
  const std::string path = with_snapshot(test);
  std::string text = read_whole(path).value();
  text[text.find("two")] ^= 1;
  std::ofstream(path) << text;
  for (int start = 0; start < 3;
       ++start) {  // the second start finds the repaired journal of the first
    const auto journal = opened(folder_of(test));
    EXPECT_EQ(journal.recovered.snapshot, "state of one");
    EXPECT_THAT(journal.recovered.records, ElementsAre("two", "three"));
    EXPECT_THAT(journal.recovered.notes, SizeIs(start == 0 ? 1 : 0));
  }
}

TEST(JournalFile, RepeatedSnapshotIsMadeUpFor) {
  const base::TestFolder test;
  (void)with_snapshot(test);
  {
    keep(*opened(folder_of(test)).log, {"four"});
  }
  std::filesystem::remove(snapshot_path(folder_of(test), generations_in(folder_of(test))->back()));
  const auto journal = opened(folder_of(test));
  EXPECT_EQ(journal.recovered.snapshot, "state of two");
  EXPECT_THAT(journal.recovered.records, ElementsAre("three", "four"));
}

TEST(JournalFile, TwoDamagedSnapshotsAreAnError) {
  const base::TestFolder test;
  const std::string path = with_snapshot(test);
  const auto all = generations_in(folder_of(test));
  for (const auto& each : *all) {
    std::filesystem::remove(snapshot_path(folder_of(test), each));
  }
  const auto journal = open_journal(folder_of(test), {});
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().text(), HasSubstr(path));
  EXPECT_THAT(journal.error().text(), HasSubstr("backup"));
}

TEST(JournalFile, WhoeverTakesOverShutsOutTheOther) {
  const base::TestFolder test;
  auto old = opened(folder_of(test));
  keep(*old.log, {"a"});
  EXPECT_FALSE(old.log->was_taken_over());
  auto standby = opened(folder_of(test));
  EXPECT_TRUE(old.log->was_taken_over());
  EXPECT_FALSE(standby.log->was_taken_over());
  EXPECT_GT(standby.epoch, old.epoch);
  keep(*standby.log, {"b"});
  old.log->append("too late");
  const auto refused = old.log->commit();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("another daemon took over"));
  EXPECT_FALSE(old.log->compact("too late"));
  keep(*standby.log, {"c"});
  EXPECT_THAT(read_journal(folder_of(test))->records, ElementsAre("a", "b", "c"));
}

TEST(JournalFile, BackupOfARunningDaemonIsWhole) {
  const base::TestFolder test;
  (void)with_snapshot(test);
  const std::string backup = test / "backup";
  std::filesystem::create_directories(backup);
  const auto copy = [&](std::string_view kind) {
    for (const auto& each : std::filesystem::directory_iterator(folder_of(test))) {
      const std::string name = each.path().filename().string();
      if (name.starts_with(kind)) std::filesystem::copy(each.path(), backup + "/" + name);
    }
  };
  auto journal = opened(folder_of(test));
  copy("snapshot-");
  keep(*journal.log, {"four"});
  ASSERT_TRUE(journal.log->compact("state of four"));
  keep(*journal.log, {"five"});
  copy("journal-");
  copy("epoch");
  const auto restored = opened(backup);
  EXPECT_EQ(restored.recovered.snapshot, "state of two");
  EXPECT_THAT(restored.recovered.records, ElementsAre("three", "four", "five"));
}

TEST(JournalFile, RemovedFolderIsNoticed) {
  const base::TestFolder test;
  auto journal = opened(folder_of(test));
  std::filesystem::remove_all(folder_of(test));
  journal.log->append("lost");
  EXPECT_FALSE(journal.log->commit());
}

TEST(JournalFile, FullDiskLosesNothing) {
  const base::TestFolder test;
  auto journal = opened(folder_of(test));
  keep(*journal.log, {"a"});
  const auto bytes = std::filesystem::file_size(newest_journal(folder_of(test)));
  // The disk has room for 100 bytes: a short write, then a failing one.
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = bytes + 100;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  journal.log->append(std::string(500, 'b'));
  const auto failed = journal.log->commit();
  const auto failed_again = journal.log->commit();
  const auto left = std::filesystem::file_size(newest_journal(folder_of(test)));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, ignored);
  ASSERT_FALSE(failed);
  EXPECT_FALSE(failed_again);
  EXPECT_THAT(failed.error().text(), HasSubstr("free space"));
  EXPECT_EQ(left, bytes);
  EXPECT_TRUE(journal.log->commit());
  EXPECT_THAT(read_journal(folder_of(test))->records, ElementsAre("a", std::string(500, 'b')));
}

// Samples written by any release are read by all later ones.
TEST(JournalFile, ReadsVersion1) {
  const base::TestFolder test;
  const std::string sample = std::string(GOBAN_SOURCE_DIR) + "/tests/journal/v1";
  std::filesystem::copy(sample, folder_of(test), std::filesystem::copy_options::recursive);
  const auto journal = opened(folder_of(test));
  EXPECT_EQ(journal.epoch, 4U);
  EXPECT_EQ(journal.recovered.snapshot, R"({"jobs":[7],"now":1700000000000000000})");
  EXPECT_THAT(journal.recovered.records,
              ElementsAre(R"({"at":1700000001000000000,"input":"submit"})", R"({"decided":[8]})",
                          "unconfirmed, but whole"));
  EXPECT_THAT(journal.recovered.notes, SizeIs(2));
}

}  // namespace
}  // namespace goban::live::journal
