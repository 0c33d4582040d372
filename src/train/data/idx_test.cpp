#include "train/data/idx.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

#include "base/gzip.hpp"
#include "train/data/fetch.hpp"

namespace goban::train::data {
namespace {

using ::testing::HasSubstr;

class Idx : public ::testing::Test {
 protected:
  std::string path_ =
      (std::filesystem::path(::testing::TempDir()) /
       (std::string("idx_") + ::testing::UnitTest::GetInstance()->current_test_info()->name()))
          .string();
  void write(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }
  std::string message() {
    const auto read = read_idx(path_);
    return read ? "read" : read.error().message;
  }
};

const std::string kGood(
    "\0\0\x08\x02\0\0\0\x02\0\0\0\x03"
    "abcdef",
    18);

TEST_F(Idx, ReadsPlainAndGzipped) {
  write(kGood);
  auto plain = read_idx(path_);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->sizes, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::string(plain->bytes.begin(), plain->bytes.end()), "abcdef");
  write(base::gzip(kGood));
  auto unzipped = read_idx(path_);
  ASSERT_TRUE(unzipped);
  EXPECT_EQ(unzipped->bytes, plain->bytes);
}

TEST_F(Idx, AFolderThatCannotBeReadIsAnError) {
  std::filesystem::remove(path_);
  std::filesystem::create_symlink(path_, path_);
  const auto read = read_image_set(path_);
  std::filesystem::remove(path_);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().text(), HasSubstr("train-images-idx3-ubyte': Too many levels"));
  EXPECT_THAT(read.error().remedy, HasSubstr("must be readable"));
}

TEST_F(Idx, RefusesWhatIsNotWhole) {
  write(kGood.substr(0, 17));
  EXPECT_THAT(message(), HasSubstr("truncated"));
  write(kGood + "x");
  EXPECT_THAT(message(), HasSubstr("after its end"));
  write(kGood.substr(0, 9));
  EXPECT_THAT(message(), HasSubstr("inside the header"));
  write("hello, world");
  EXPECT_THAT(message(), HasSubstr("not an IDX file"));
  write(
      std::string("\0\0\x0d\x01\0\0\0\x01"
                  "abcd",
                  12));
  EXPECT_THAT(message(), HasSubstr("must be bytes"));
  write(std::string("\0\0\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16));
  EXPECT_THAT(message(), HasSubstr("invalid size"));
}

TEST(Fetch, RefusesAnUnknownName) {
  const auto status = fetch("imagenet", ::testing::TempDir());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, base::ErrorCode::Usage);
}

/// Downloads from the real sources; skipped where the registry or the archive cannot be reached.
class FetchForReal : public ::testing::TestWithParam<const char*> {
 protected:
  ~FetchForReal() override { std::filesystem::remove_all(folder_); }
  std::string folder_ =
      (std::filesystem::path(::testing::TempDir()) / ("goban_fetch_" + std::to_string(getpid())))
          .string();
};

TEST_P(FetchForReal, ChecksWhatItGotAndRepairsWhatIsDamaged) {
  const std::string name = GetParam();
  const auto first = fetch(name, folder_);
  if (!first && first.error().code == base::ErrorCode::Failed) {
    GTEST_SKIP() << "no network, npm or apt here: " << first.error().text();
  }
  ASSERT_TRUE(first) << first.error().text();
  const auto set = read_image_set(folder_ + "/" + name);
  ASSERT_TRUE(set) << set.error().text();
  EXPECT_EQ(set->train_labels.sizes, (std::vector<int64_t>{60000}));
  EXPECT_EQ(set->test_images.sizes, (std::vector<int64_t>{10000, 28, 28}));
  const auto labels = std::filesystem::directory_iterator(folder_ + "/" + name)->path();
  const auto size = std::filesystem::file_size(labels);
  std::filesystem::resize_file(labels, size - 1);
  const auto again = fetch(name, folder_);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(std::filesystem::file_size(labels), size);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/" + name + "/fetching"));
}

INSTANTIATE_TEST_SUITE_P(Sets, FetchForReal, ::testing::Values("mnist", "fashion"),
                         [](const auto& set) { return std::string(set.param); });

}  // namespace
}  // namespace goban::train::data
