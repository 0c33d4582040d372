// Journals under faults: calls that fail one after the other, and writers that are killed.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.hpp"
#include "base/test_folder.hpp"
#include "live/journal/journal_file.hpp"

namespace goban::live::journal {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

/// Calls fail from `first` to `last`; a failing write leaves half of its bytes in the file.
class Faults final : public FileCalls {
 public:
  int64_t first = -1;  ///< calls from here on fail ...
  int64_t last = -1;   ///< ... up to this one
  int error = ENOSPC;
  int64_t calls = 0;

  ssize_t write(int fd, std::string_view bytes, int64_t at) override {
    if (!fails()) return FileCalls::write(fd, bytes, at);
    if (bytes.size() > 1) (void)FileCalls::write(fd, bytes.substr(0, bytes.size() / 2), at);
    return failed();
  }
  /// No sync: readers use the same page cache.
  int sync(int) override { return fails() ? failed() : 0; }
  int truncate(int fd, int64_t length) override {
    return fails() ? failed() : FileCalls::truncate(fd, length);
  }
  int rename(const std::string& from, const std::string& to) override {
    return fails() ? failed() : FileCalls::rename(from, to);
  }
  int remove(const std::string& path) override {
    return fails() ? failed() : FileCalls::remove(path);
  }

 private:
  bool fails() {
    const int64_t now = calls++;
    return first >= 0 && first <= now && now <= last;
  }
  int failed() const {
    errno = error;
    return -1;
  }
};

/// The expected content after a start: records of the snapshot and the others, in order.
std::vector<std::string> all_records(const Recovered& recovered) {
  std::vector<std::string> all;
  for (size_t begin = 0; begin < recovered.snapshot.size();) {
    const size_t end = recovered.snapshot.find(',', begin);
    all.push_back(recovered.snapshot.substr(begin, end - begin));
    begin = end + 1;
  }
  all.insert(all.end(), recovered.records.begin(), recovered.records.end());
  return all;
}

std::string as_snapshot(const std::vector<std::string>& records) {
  std::string snapshot;
  for (const auto& record : records) snapshot += record + ",";
  return snapshot;
}

/// A few commits and snapshots, each retried until it succeeds.
void work(RecordLog& log, Faults& faults, std::vector<std::string>& kept, const std::string& name,
          const std::string& folder) {
  for (int i = 0; i < 6; ++i) {
    std::vector<std::string> batch{fmt::format("{}{}a", name, i), fmt::format("{}{}b", name, i)};
    for (const auto& record : batch) log.append(record);
    for (int tries = 0; !log.commit(); ++tries) {
      ASSERT_LT(tries, 20);
      // A start now finds all confirmed records, and at most a prefix of the others.
      const auto found = read_journal(folder);
      ASSERT_TRUE(found) << found.error().text();
      auto all = all_records(*found);
      ASSERT_GE(all.size(), kept.size());
      all.resize(kept.size());
      ASSERT_THAT(all, ElementsAreArray(kept));
    }
    kept.insert(kept.end(), batch.begin(), batch.end());
    if (i % 2 == 1) (void)log.compact(as_snapshot(kept)).has_value();
    ASSERT_LT(faults.calls, 10000);
  }
}

TEST(JournalFaults, NothingConfirmedIsLostWhicheverCallsFail) {
  for (const int64_t length : {0, 1, 2, 7}) {
    for (int64_t first = 0; first < 50; ++first) {
      const base::TestFolder test;
      const std::string folder = test / "journal";
      Faults faults;
      std::vector<std::string> kept;
      {
        auto journal = open_journal(folder, {.build = "test", .calls = &faults});
        ASSERT_TRUE(journal);
        faults.first = first;
        faults.last = first + length;
        faults.error = first % 2 == 0 ? ENOSPC : EROFS;
        faults.calls = 0;
        ASSERT_NO_FATAL_FAILURE(work(*journal->log, faults, kept, "x", folder));
      }
      faults.first = -1;
      const auto journal = open_journal(folder, {.build = "test", .calls = &faults});
      ASSERT_TRUE(journal) << journal.error().text();
      ASSERT_THAT(all_records(journal->recovered), ElementsAreArray(kept)) << first;
    }
  }
}

TEST(JournalFaults, StartThatFailsLeavesWhatWasThere) {
  for (int64_t first = 0; first < 14; ++first) {
    const base::TestFolder test;
    const std::string folder = test / "journal";
    Faults faults;
    {
      auto journal = open_journal(folder, {.build = "test", .calls = &faults});
      journal->log->append("a");
      ASSERT_TRUE(journal->log->commit());
      ASSERT_TRUE(journal->log->compact("a,"));
      journal->log->append("b");
      ASSERT_TRUE(journal->log->commit());
    }
    faults.calls = 0;
    faults.first = first;
    faults.last = 1000;
    const auto failed = open_journal(folder, {.build = "test", .calls = &faults});
    if (!failed) {
      EXPECT_THAT(failed.error().text(), HasSubstr("free space"));
    }
    faults.first = -1;
    const auto journal = open_journal(folder, {.build = "test", .calls = &faults});
    ASSERT_TRUE(journal) << journal.error().text();
    EXPECT_EQ(all_records(journal->recovered), (std::vector<std::string>{"a", "b"}));
  }
}

/// Writes records 0, 1, 2, ... in commits of a few, and reports after each commit how many are
/// durable.
[[noreturn]] void write_until_killed(const std::string& folder, int say, uint64_t seed) {
  Faults none;
  auto journal = open_journal(folder, {.build = "test", .calls = &none});
  if (!journal) ::_exit(3);
  std::vector<std::string> all = all_records(journal->recovered);
  for (uint64_t step = seed;; ++step) {
    const size_t count = 1 + step % 3;
    for (size_t i = 0; i < count; ++i) {
      all.push_back(fmt::format("record {}", all.size()));
      journal->log->append(all.back());
    }
    if (!journal->log->commit()) ::_exit(4);
    const auto safe = static_cast<uint32_t>(all.size());
    if (::write(say, &safe, sizeof safe) != sizeof safe) ::_exit(5);
    if (step % 4 == 0 && !journal->log->compact(as_snapshot(all))) ::_exit(6);
  }
}

TEST(JournalFaults, KilledWritersLoseNothingAndInventNothing) {
  const base::TestFolder test;
  const std::string folder = test / "journal";
  base::Random random(7);
  uint32_t safe = 0;
  for (uint64_t round = 0; round < 40; ++round) {
    int say[2];
    ASSERT_EQ(::pipe(say), 0);
    const pid_t child = ::fork();
    if (child == 0) write_until_killed(folder, say[1], round);
    ::close(say[1]);
    // Killed after some commits, at a random time of the next one.
    const auto begin = std::chrono::steady_clock::now();
    const uint64_t commits = random.below(8);
    uint32_t said = 0;
    for (uint64_t i = 0; i < commits; ++i) {
      ASSERT_EQ(::read(say[0], &said, sizeof said), static_cast<ssize_t>(sizeof said));
    }
    safe = std::max(safe, said);
    constexpr std::chrono::microseconds kOpening{5'000};
    const auto of_a_commit = commits == 0
                                 ? kOpening
                                 : std::chrono::duration_cast<std::chrono::microseconds>(
                                       (std::chrono::steady_clock::now() - begin) / commits);
    ::usleep(static_cast<useconds_t>(random.below(1 + static_cast<uint64_t>(of_a_commit.count()))));
    ::kill(child, SIGKILL);
    int how = 0;
    ASSERT_EQ(::waitpid(child, &how, 0), child);
    ASSERT_TRUE(WIFSIGNALED(how)) << "exit code " << WEXITSTATUS(how);
    while (::read(say[0], &said, sizeof said) == sizeof said) safe = said;
    ::close(say[0]);

    const auto found = read_journal(folder);
    if (!found && safe == 0) continue;  // killed before a journal existed
    ASSERT_TRUE(found) << found.error().text();
    const std::vector<std::string> all = all_records(*found);
    ASSERT_GE(all.size(), safe);
    ASSERT_LE(all.size(), safe + 3U);  // one unconfirmed commit
    for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], fmt::format("record {}", i));
    safe = static_cast<uint32_t>(all.size());
  }
  EXPECT_GT(safe, 100U);
}

}  // namespace
}  // namespace goban::live::journal
