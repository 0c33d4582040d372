#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

#include "live/engine/local/run_status.hpp"

namespace goban::live::engine::local {
namespace {

struct StatusFiles : testing::Test {
  StatusFiles() {
    char pattern[] = "/tmp/goban_status_XXXXXX";
    base_folder = ::mkdtemp(pattern);
    folder = base_folder + "/run-1";
    std::filesystem::create_directory(folder);
  }
  ~StatusFiles() override { std::filesystem::remove_all(base_folder); }
  [[nodiscard]] std::optional<int32_t> exit_code() const {
    const auto text = base::read_small_file(folder + "/status");
    const auto status = text ? parse_status(*text, "status") : parse_status("", "status");
    return status ? std::optional(status->exit_code) : std::nullopt;
  }

  std::string base_folder;
  std::string folder;
};

TEST_F(StatusFiles, MayBeWrittenAgain) {
  auto file = StatusFile::reserve(folder);
  ASSERT_TRUE(file);
  EXPECT_EQ(exit_code(), std::nullopt);
  for (const int32_t code : {1, 2}) {
    ASSERT_TRUE(file->write({.exit_code = code}));
    EXPECT_EQ(exit_code(), code);
  }
}

TEST_F(StatusFiles, HoldTheTimesOfAllRanks) {
  auto file = StatusFile::reserve(folder);
  ASSERT_TRUE(file);
  RunStatus status{.exit_code = 1};
  for (int32_t rank = 0; rank < base::reports::kRanksMax; ++rank) {
    status.progress.ranks.push_back({.rank = rank,
                                     .ranks = base::reports::kRanksMax,
                                     .steps = 999'999'999'999'999,
                                     .busy_s = 1e6 / 3,
                                     .wait_s = 2e6 / 3,
                                     .data_s = 1e5 / 3});
  }
  ASSERT_TRUE(file->write(status));
  const auto text = base::read_small_file(folder + "/status");
  ASSERT_TRUE(text);
  const auto again = parse_status(*text, "status");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->progress, status.progress);
}

TEST_F(StatusFiles, OfARemovedFolderDoNotTouchTheOneThatHasItsName) {
  auto old = StatusFile::reserve(folder);
  ASSERT_TRUE(old);
  EXPECT_TRUE(old->has_folder());
  std::filesystem::remove_all(folder);
  EXPECT_FALSE(old->has_folder());
  std::filesystem::create_directory(folder);
  auto fresh = StatusFile::reserve(folder);
  ASSERT_TRUE(fresh);
  EXPECT_FALSE(old->write({.exit_code = 1}));
  EXPECT_EQ(exit_code(), std::nullopt);
  ASSERT_TRUE(fresh->write({.exit_code = 2}));
  EXPECT_EQ(exit_code(), 2);
}

}  // namespace
}  // namespace goban::live::engine::local
