#include "serve/stores/disk_reserve.hpp"

#include <cstdint>
#include <filesystem>
#include <gmock/gmock.h>

#include "serve/stores/payload_store.hpp"

namespace goban::serve::stores {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;

TEST(DiskReserve, TheSmallerOfBothIsKept) {
  DiskSpace disk{.bytes = 1000 * kMiB, .bytes_free = 100 * kMiB};
  EXPECT_EQ(shortage(disk, {.bytes = 200 * kMiB, .share = 0.05}, 50 * kMiB), "");
  EXPECT_THAT(shortage(disk, {.bytes = 200 * kMiB, .share = 0.05}, 50 * kMiB + 1),
              HasSubstr("100.0 MiB are free, and submissions leave 50.0 MiB"));
  EXPECT_EQ(shortage(disk, {.bytes = 10 * kMiB, .share = 0.5}, 90 * kMiB), "");
  EXPECT_NE(shortage(disk, {.bytes = 10 * kMiB, .share = 0.5}, 91 * kMiB), "");
  disk.bytes_free = 0;
  EXPECT_EQ(shortage(disk, {.bytes = 0, .share = 0.5}, 1), "") << "no reserve";
  EXPECT_EQ(shortage(disk, {.bytes = kMiB, .share = 0}, 1), "");
}

TEST(DiskReserve, FilesAreKeptToo) {
  DiskSpace disk{.bytes = 1000 * kMiB, .bytes_free = 900 * kMiB, .files = 1000, .files_free = 66};
  EXPECT_EQ(shortage(disk, {}, 1), "");
  disk.files_free = 65;
  EXPECT_THAT(shortage(disk, {}, 1), HasSubstr("65 files are free"));
  disk.files = 0;
  EXPECT_EQ(shortage(disk, {}, 1), "") << "btrfs has no fixed number";
}

TEST(DiskReserve, ASubmissionThatDoesNotFitLeavesNothing) {
  char pattern[] = "/tmp/goban_reserve_XXXXXX";
  const std::string folder = ::mkdtemp(pattern);
  std::vector<std::string> said;
  const auto guard = [&](double share) {
    return std::make_shared<DiskGuard>(folder, DiskReserve{.bytes = INT64_MAX / 2, .share = share},
                                       [&](const std::string& line) { said.push_back(line); });
  };
  {
    const auto use = std::make_shared<PayloadUse>(0);
    const auto full = PayloadStore::open(folder, use, guard(1)).value();
    for (int i = 0; i < 2; ++i) {
      const auto written = full.write("{}", {.uid = 7});
      ASSERT_FALSE(written);
      EXPECT_EQ(written.error().code, base::ErrorCode::Failed);
      EXPECT_THAT(written.error().text(), HasSubstr("disk_reserve"));
    }
    EXPECT_EQ(use->bytes_of(7), 0);
    EXPECT_THAT(said, ElementsAre(HasSubstr("submissions are refused"))) << "once";
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_TRUE(PayloadStore::open(folder, std::make_shared<PayloadUse>(0), guard(1e-9))
                  .value()
                  .write("{}", {}));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace goban::serve::stores
