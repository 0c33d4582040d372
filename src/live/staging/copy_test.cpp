#include "live/staging/copy.hpp"

#include <array>
#include <chrono>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "base/test_folder.hpp"
#include "live/staging/copy_notes.hpp"
#include "live/staging/look.hpp"
#include "live/staging/removal.hpp"

namespace goban::live::staging {
namespace {

namespace fs = std::filesystem;

Tree listed(const std::string& path) {
  auto tree = list_tree(path);
  EXPECT_TRUE(tree) << (tree ? "" : tree.error().text());
  return tree ? std::move(*tree) : Tree{};
}

std::string text_of(size_t bytes, char first) {
  std::string text(bytes, 0);
  for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(first + static_cast<char>(i % 23));
  return text;
}

struct CopyTree : testing::Test {
  CopyTree() {
    fs::create_directories(folder / "source/deep/empty");
    folder.write("source/one", text_of(10'000, 'a'));
    folder.write("source/deep/two words", text_of(2'500, 'b'));
    folder.write("source/deep/none", "");
    fs::create_symlink("../one", folder / "source/deep/link");
    ::chmod((folder / "source/one").c_str(), 0640);
  }
  base::Result<Copied> copy(const CopyOptions& options = {}) {
    return copy_tree(listed(source), to, notes, options);
  }
  /// Stops after some calls, as a process that is killed.
  base::Result<Copied> copy_until(int calls) {
    CopyOptions options{.chunk_bytes = 1'000};
    options.go_on = [&](int64_t) { return --calls >= 0; };
    return copy(options);
  }
  base::TestFolder folder{"copy"};
  std::string source = folder / "source";
  std::string to = folder / "fast/version/source";
  std::string notes = folder / "fast/version.notes";
};

TEST_F(CopyTree, EverythingIsCopiedWithItsTimesAndChecked) {
  const auto copied = copy();
  ASSERT_TRUE(copied) << copied.error().text();
  EXPECT_EQ(copied->bytes, 12'500);
  EXPECT_EQ(copied->copied_bytes, 12'500);
  EXPECT_EQ(base::TestFolder::read(to + "/one"), text_of(10'000, 'a'));
  EXPECT_EQ(base::TestFolder::read(to + "/deep/two words"), text_of(2'500, 'b'));
  EXPECT_TRUE(fs::is_directory(to + "/deep/empty"));
  EXPECT_EQ(fs::read_symlink(to + "/deep/link"), "../one");
  struct stat facts{};
  ASSERT_EQ(::stat((to + "/one").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0640U);
  EXPECT_EQ(fs::last_write_time(to + "/one"), fs::last_write_time(source + "/one"));
  // As sha256sum prints them, in the order of their paths.
  const auto line = [](const std::string& text, const char* path) {
    return base::hex(base::sha256(text)) + "  " + path + "\n";
  };
  EXPECT_EQ(copied->sha256, base::hex(base::sha256(line("", "deep/none") +
                                                   line(text_of(2'500, 'b'), "deep/two words") +
                                                   line(text_of(10'000, 'a'), "one"))));
  EXPECT_EQ(completed(notes), copied->sha256);
}

TEST_F(CopyTree, ASecondCopyFindsItThere) {
  const auto first = copy();
  ASSERT_TRUE(first);
  const auto again = copy();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->copied_bytes, 0);
  EXPECT_EQ(again->sha256, first->sha256);
  fs::remove(to + "/one");
  const auto repaired = copy();
  ASSERT_TRUE(repaired);
  EXPECT_EQ(repaired->copied_bytes, 10'000) << "only what is missing";
}

TEST_F(CopyTree, AStoppedCopyGoesOnWithinTheFile) {
  // The first three files of the list have 0, 2,500 and 10,000 bytes; it stops in the last.
  const auto stopped = copy_until(8);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, base::ErrorCode::Failed);
  EXPECT_EQ(completed(notes), "");
  EXPECT_FALSE(fs::exists(to + "/one")) << "a file appears when it is complete";
  const auto rest = copy({.chunk_bytes = 1'000});
  ASSERT_TRUE(rest) << rest.error().text();
  EXPECT_GT(rest->copied_bytes, 0);
  EXPECT_LT(rest->copied_bytes, 10'000);
  EXPECT_EQ(base::TestFolder::read(to + "/one"), text_of(10'000, 'a'));
}

TEST_F(CopyTree, EveryPointOfAnInterruptionEndsWell) {
  for (int calls = 0; calls < 20; ++calls) {
    fs::remove_all(folder / "fast");
    (void)copy_until(calls);
    const auto rest = copy({.chunk_bytes = 1'000});
    ASSERT_TRUE(rest) << rest.error().text();
    EXPECT_EQ(base::TestFolder::read(to + "/one"), text_of(10'000, 'a')) << calls;
  }
}

TEST_F(CopyTree, DamagedPartsAreCopiedAgain) {
  ASSERT_FALSE(copy_until(8));
  for (const auto& each : fs::recursive_directory_iterator(folder / "fast/version")) {
    if (!each.path().filename().string().ends_with(".part")) continue;
    std::fstream file(each.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(1'200);
    file << "damage";
  }
  const auto rest = copy({.chunk_bytes = 1'000});
  ASSERT_TRUE(rest) << rest.error().text();
  EXPECT_EQ(rest->copied_bytes, 9'000) << "only the first chunk was as it was written";
  EXPECT_EQ(base::TestFolder::read(to + "/one"), text_of(10'000, 'a'));
}

TEST_F(CopyTree, ADamagedCopyIsNotComplete) {
  int calls = 0;
  CopyOptions options;
  // All files are copied when they are read back for the first time.
  options.go_on = [&](int64_t done_bytes) {
    if (done_bytes == 12'500 && ++calls == 1) {
      std::fstream(to + "/deep/two words", std::ios::in | std::ios::out) << "X";
    }
    return true;
  };
  const auto damaged = copy(options);
  ASSERT_FALSE(damaged);
  EXPECT_NE(damaged.error().message.find("deep/two words does not have the checksum"),
            std::string::npos);
  EXPECT_EQ(completed(notes), "");
  ASSERT_TRUE(copy());
  EXPECT_EQ(base::TestFolder::read(to + "/deep/two words"), text_of(2'500, 'b'));
}

TEST_F(CopyTree, AChangingSourceIsNamed) {
  const Tree tree = listed(source);
  CopyOptions options{.chunk_bytes = 1'000};
  bool changes = true;
  options.go_on = [&](int64_t done_bytes) {
    if (done_bytes > 5'000 && std::exchange(changes, false)) {
      std::ofstream(source + "/one", std::ios::app) << "more";
    }
    return true;
  };
  const auto copied = copy_tree(tree, to, notes, options);
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, base::ErrorCode::Failed);
  EXPECT_NE(copied.error().message.find("one changed while it was copied"), std::string::npos);
  // A new file is a change, too, though no other file was touched.
  fs::remove_all(folder / "fast");
  const Tree second = listed(source);
  folder.write("source/late", "x");
  const auto late = copy_tree(second, to, notes, {});
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().message.find("changed while it was copied"), std::string::npos);
}

TEST_F(CopyTree, AFileAloneHasItsOwnChecksum) {
  const std::string one = folder / "fast/v/one";
  const auto copied = copy_tree(listed(source + "/one"), one, folder / "fast/v.notes", {});
  ASSERT_TRUE(copied) << copied.error().text();
  EXPECT_EQ(copied->sha256, base::hex(base::sha256(text_of(10'000, 'a'))));
  EXPECT_EQ(base::TestFolder::read(one), text_of(10'000, 'a'));
}

TEST_F(CopyTree, OnlyWhatWasCopiedIsRemovedFromTheSource) {
  const Tree tree = listed(source);
  ASSERT_TRUE(remove_copied(tree, notes));
  EXPECT_TRUE(fs::exists(source + "/one")) << "it was never copied";
  ASSERT_TRUE(copy());
  folder.write("source/late", "x");
  folder.write("source/deep/two words", "rewritten");
  ASSERT_TRUE(remove_copied(tree, notes));
  EXPECT_FALSE(fs::exists(source + "/one"));
  EXPECT_FALSE(fs::exists(source + "/deep/empty"));
  EXPECT_TRUE(fs::exists(source + "/late"));
  EXPECT_EQ(base::TestFolder::read(source + "/deep/two words"), "rewritten");
}

TEST_F(CopyTree, ACopyIsRemovedWithItsNotes) {
  ASSERT_TRUE(copy());
  ASSERT_TRUE(remove_copy(to, notes));
  EXPECT_FALSE(fs::exists(to));
  EXPECT_FALSE(fs::exists(notes));
  ASSERT_TRUE(remove_copy(to, notes)) << "it may be repeated";
}

unsigned mode_of(const std::string& path) {
  struct stat facts{};
  EXPECT_EQ(::stat(path.c_str(), &facts), 0) << path;
  return facts.st_mode & 0777U;
}

TEST_F(CopyTree, FoldersAndFilesKeepTheirPermissions) {
  ::chmod(source.c_str(), 0700);
  ::chmod((source + "/deep").c_str(), 0750);
  ::chmod((source + "/one").c_str(), 0600);
  int looked = 0;
  CopyOptions options;
  options.go_on = [&](int64_t) {
    EXPECT_EQ(mode_of(to), 0700U);
    ++looked;
    return true;
  };
  ASSERT_TRUE(copy(options));
  EXPECT_GT(looked, 0);
  EXPECT_EQ(mode_of(to), 0700U);
  EXPECT_EQ(mode_of(to + "/deep"), 0750U);
  EXPECT_EQ(mode_of(to + "/one"), 0600U);
  // A folder that was there is somebody's: it is not opened.
  fs::remove_all(folder / "fast");
  fs::create_directories(to);
  ::chmod(to.c_str(), 0700);
  ::chmod(source.c_str(), 0755);
  ASSERT_TRUE(copy());
  EXPECT_EQ(mode_of(to), 0700U);
}

TEST_F(CopyTree, FilesOfBefore1970KeepTheirTimes) {
  const timespec old{.tv_sec = -2, .tv_nsec = 500'000'000};
  const timespec times[2] = {old, old};
  ASSERT_EQ(::utimensat(AT_FDCWD, (source + "/one").c_str(), times, 0), 0);
  ASSERT_TRUE(copy());
  struct stat facts{};
  ASSERT_EQ(::stat((to + "/one").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mtim.tv_sec, -2);
  EXPECT_EQ(facts.st_mtim.tv_nsec, 500'000'000);
}

TEST_F(CopyTree, AFileOfAnotherWriterIsNeitherReplacedNorRemoved) {
  // Somebody writes there between the copy and the check.
  int calls = 0;
  CopyOptions options{.keeps_others = true};
  options.go_on = [&](int64_t done_bytes) {
    if (done_bytes == 12'500 && ++calls == 1) {
      fs::remove(to + "/one");
      std::ofstream(to + "/one") << "theirs";
    }
    return true;
  };
  ASSERT_FALSE(copy(options));
  EXPECT_EQ(base::TestFolder::read(to + "/one"), "theirs");
  const auto again = copy({.keeps_others = true});
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("one exists"), std::string::npos);
  EXPECT_EQ(base::TestFolder::read(to + "/one"), "theirs");
}

TEST_F(CopyTree, NothingIsCopiedBesideAFileThatKeepsTheRestAway) {
  fs::create_directories(to);
  std::ofstream(to + "/one") << "theirs";
  const auto refused = copy({.keeps_others = true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::BadData);
  for (const auto& each : fs::directory_iterator(to)) {
    EXPECT_EQ(each.path().filename(), "one") << "the rest waits until it is moved away";
  }
  fs::remove(to + "/one");
  EXPECT_TRUE(copy({.keeps_others = true}));
}

TEST_F(CopyTree, TimesOfWholeSecondsAreThoseOfTheCopy) {
  const auto set_time = [](const std::string& path, timespec time) {
    const std::array<timespec, 2> times{time, time};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times.data(), 0), 0);
  };
  const std::vector<std::string> files{"/one", "/deep/two words", "/deep/none"};
  for (const time_t second : {time_t{1'700'000'000}, time_t{-5}}) {
    fs::remove_all(folder / "fast");
    for (const std::string& file : files) set_time(source + file, {second, 123'456'789});
    const CopyOptions options{.chunk_bytes = 1'000, .keeps_others = true};
    CopyOptions first = options;
    // The first two files are complete.
    first.go_on = [&](int64_t) { return !fs::exists(to + "/deep/two words"); };
    ASSERT_FALSE(copy(first));
    // As Lustre keeps them.
    for (const char* file : {"/deep/none", "/deep/two words"}) set_time(to + file, {second, 0});
    const auto rest = copy(options);
    ASSERT_TRUE(rest) << rest.error().text();
    EXPECT_EQ(rest->copied_bytes, 10'000) << "the others are there";
    for (const std::string& file : files) set_time(to + file, {second, 0});
    EXPECT_EQ(missing_of(to, notes, {}).value(), "");
    set_time(to + "/one", {second, 1'000});
    EXPECT_EQ(missing_of(to, notes, {}).value(), to + "/one");
    set_time(to + "/one", {second - 1, 0});
    EXPECT_EQ(missing_of(to, notes, {}).value(), to + "/one");
  }
}

TEST_F(CopyTree, CopiesToOneFolderGoOneAfterTheOther) {
  fs::create_directories(to);
  // Another process holds the lock while it copies.
  const base::Descriptor other(::open(to.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
  int asked = 0;
  CopyOptions options{.keeps_others = true};
  options.go_on = [&](int64_t) {
    EXPECT_TRUE(fs::is_empty(to)) << "nothing is written before the other one has ended";
    return ++asked < 3;
  };
  const auto stopped = copy(options);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, base::ErrorCode::Failed) << "it is tried again";
  options.go_on = [&](int64_t) {
    ::flock(other.get(), LOCK_UN);
    return true;
  };
  EXPECT_TRUE(copy(options));
}

TEST_F(CopyTree, ATierThatIsEmptiedIsNoFinalFailure) {
  CopyOptions options{.chunk_bytes = 1'000};
  options.go_on = [&](int64_t done_bytes) {
    if (done_bytes > 5'000) fs::remove_all(folder / "fast");
    return true;
  };
  const auto emptied = copy(options);
  ASSERT_FALSE(emptied);
  EXPECT_EQ(emptied.error().code, base::ErrorCode::Failed) << emptied.error().text();
  EXPECT_TRUE(copy());
}

std::string list_problem(const std::string& path) {
  const auto tree = list_tree(path);
  if (tree) return "";
  EXPECT_EQ(tree.error().code, base::ErrorCode::BadData) << tree.error().text();
  return tree.error().message;
}

TEST_F(CopyTree, WhatCannotBeCopiedIsNamed) {
  EXPECT_NE(list_problem(folder / "none").find("none: No such file"), std::string::npos);
  fs::create_symlink("../../etc", folder / "source/out");
  EXPECT_NE(list_problem(source).find("source/out is a symbolic link that leaves"),
            std::string::npos);
  fs::remove(folder / "source/out");
  fs::create_symlink("/etc/passwd", folder / "source/out");
  EXPECT_NE(list_problem(source).find("symbolic link"), std::string::npos);
  fs::remove(folder / "source/out");
  ASSERT_EQ(::mkfifo((folder / "source/pipe").c_str(), 0600), 0);
  EXPECT_NE(list_problem(source).find("source/pipe is neither"), std::string::npos);
  fs::remove(folder / "source/pipe");
  folder.write("source/line\nbreak", "x");
  EXPECT_NE(list_problem(source).find("control character"), std::string::npos);
}

TEST_F(CopyTree, TheVersionFollowsEveryChange) {
  const std::string first = listed(source).version;
  EXPECT_EQ(first.size(), 32U);
  EXPECT_EQ(listed(source).version, first);
  folder.write("source/one", text_of(10'000, 'c'));
  // Two writes may be within one tick of the file system's clock.
  fs::last_write_time(folder / "source/one",
                      fs::last_write_time(folder / "source/one") + std::chrono::seconds(1));
  const std::string second = listed(source).version;
  EXPECT_NE(second, first) << "as long, and written later";
  fs::rename(folder / "source/one", folder / "source/three");
  EXPECT_NE(listed(source).version, second);
}

TEST(CopyNotes, LinesThatCannotBeReadAreLeftOut) {
  const std::string sha(64, 'a');
  const auto files = parse_copied_files("\n" + sha + " 5 7 a b\nnonsense\n" + sha + " -1 7 c\n" +
                                        sha + " 9 -3 \n" + sha + " 5 7 cut");
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files.at("a b"), (CopiedFile{.sha256 = sha, .bytes = 5, .mtime_ns = 7}));
  EXPECT_EQ(files.at("").bytes, 9);
  const CopiedPart part = parse_copied_part("16 40 7 x y\n0000000a\nffffffff\n12\n0000000b\n");
  EXPECT_EQ(part.path, "x y");
  EXPECT_EQ(part.chunk_bytes, 16);
  EXPECT_EQ(part.chunks, (std::vector<uint32_t>{10, 0xffffffff}));
  EXPECT_EQ(parse_copied_part("16 40 7 cut").chunk_bytes, 0);
  EXPECT_EQ(parse_copied_part("0 40 7 x\n").chunk_bytes, 0);
}

}  // namespace
}  // namespace goban::live::staging
