#include "base/files.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace goban::base {
namespace {

using testing::HasSubstr;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    path_ =
        (std::filesystem::path(testing::TempDir()) /
         (std::string("files_") + testing::UnitTest::GetInstance()->current_test_info()->name()))
            .string();
  }
  void TearDown() override { std::filesystem::remove_all(path_); }
  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }

  std::string path_;
};

TEST_F(Files, AreReadWhateverTheirSize) {
  for (const size_t size : {0UL, 1UL, 16'383UL, 16'384UL, 16'385UL, 100'000UL, 5'000'001UL}) {
    std::string text(size, '\0');
    for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 2654435761U >> 24);
    write(text);
    const auto read = read_small_file(path_);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_TRUE(*read == text) << size;
  }
}

TEST_F(Files, OfMoreThanTheBoundAreRefused) {
  write(std::string(100'000, 'x'));
  EXPECT_EQ(read_small_file(path_, 100'000).value().size(), 100'000u);
  const auto larger = read_small_file(path_, 99'999);
  ASSERT_FALSE(larger);
  EXPECT_EQ(larger.error().message, "'" + path_ + "' is larger than 99999 bytes");
}

TEST_F(Files, ThatCannotBeReadAreErrorsOfTheSystem) {
  const auto missing = read_small_file(path_);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("cannot open '" + path_ + "': No such file"));
  std::filesystem::create_directory(path_);
  const auto folder = read_small_file(path_);
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("cannot read '" + path_ + "': Is a directory"));
}

}  // namespace
}  // namespace goban::base
