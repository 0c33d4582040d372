#include "base/text_file.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

namespace goban::base {
namespace {

class TextFile : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("goban-text-file-" + std::to_string(getpid()) + "-" + test->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const char* name) const { return folder_ / name; }
  std::string write(const char* name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::string write_gz(const char* name, const std::string& text) const {
    gzFile file = gzopen(path(name).c_str(), "wb");
    EXPECT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())),
              static_cast<int>(text.size()));
    gzclose(file);
    return path(name);
  }

  std::filesystem::path folder_;
};

std::string long_text() {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + ",x\n";
  return text;
}

TEST_F(TextFile, ReadsPlainAndPacked) {
  for (const std::string& text : {std::string(), std::string("a\n"), long_text()}) {
    EXPECT_EQ(read_text_file(write("plain", text)), text);
    EXPECT_EQ(read_text_file(write_gz("packed.gz", text)), text);
  }
}

TEST_F(TextFile, NamesWhatUnpacksOtherFormats) {
  using namespace std::string_literals;
  for (const auto& [bytes, unpacker] :
       {std::pair{"\x28\xb5\x2f\xfd more"s, "zstd -dc FILE | goban ... -"},
        std::pair{"\xfd"
                  "7zXZ\0 more"s,
                  "xz -dc FILE | goban ... -"},
        std::pair{"BZh91AY&SY more"s, "bzip2 -dc FILE | goban ... -"},
        std::pair{"PK\x03\x04 more"s, "unzip -p FILE | goban ... -"}}) {
    const auto read = read_text_file(write("packed", bytes));
    ASSERT_FALSE(read) << unpacker;
    EXPECT_EQ(read.error().code, ErrorCode::BadData);
    EXPECT_THAT(read.error().text(), testing::HasSubstr(unpacker));
  }
  EXPECT_EQ(read_text_file(write("plain", "BZh is no bzip2")), "BZh is no bzip2");
}

TEST_F(TextFile, ReadsConcatenatedMembers) {
  const std::string one = write_gz("one", "a\n");
  const std::string two = write_gz("two", "b\n");
  std::ifstream first(one, std::ios::binary);
  std::ifstream second(two, std::ios::binary);
  std::stringstream both;
  both << first.rdbuf() << second.rdbuf();
  EXPECT_EQ(read_text_file(write("both.gz", both.str())), "a\nb\n");
}

TEST_F(TextFile, RefusesMissingFilesAndFolders) {
  const auto missing = read_text_file(path("nowhere.csv"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::Failed);
  EXPECT_THAT(missing.error().text(), testing::HasSubstr("nowhere.csv: cannot be opened: No such"));
  const auto folder = read_text_file(folder_.string());
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().text(), testing::HasSubstr("cannot be read: Is a directory"));
}

TEST_F(TextFile, RefusesCutAndDamagedPackedData) {
  const std::string packed = write_gz("whole.gz", long_text());
  std::ifstream in(packed, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  const auto cut = read_text_file(write("cut.gz", bytes.substr(0, bytes.size() / 2)));
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::BadData);
  bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
  const auto damaged = read_text_file(write("damaged.gz", bytes));
  ASSERT_FALSE(damaged);
  EXPECT_THAT(damaged.error().text(), testing::HasSubstr("damaged gzip data"));
}

TEST_F(TextFile, KeepsToTheLimit) {
  EXPECT_EQ(read_text_file(write("plain", "12345"), 5), "12345");
  EXPECT_FALSE(read_text_file(write("plain", "123456"), 5));
  const auto bomb = read_text_file(write_gz("bomb.gz", std::string(10'000'000, '0')), 1'000'000);
  ASSERT_FALSE(bomb);
  EXPECT_THAT(bomb.error().text(), testing::HasSubstr("more than 1000000 bytes"));
}

TEST_F(TextFile, ReadsStandardInput) {
  const std::string packed = write_gz("in.gz", "from stdin\n");
  const int saved = dup(STDIN_FILENO);
  ASSERT_NE(std::freopen(packed.c_str(), "rb", stdin), nullptr);
  const auto text = read_text_file("-");
  dup2(saved, STDIN_FILENO);
  close(saved);
  EXPECT_EQ(text, "from stdin\n");
  EXPECT_EQ(input_name("-"), "stdin");
}

}  // namespace
}  // namespace goban::base
