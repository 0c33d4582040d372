#include "base/output_file.hpp"

#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/test_folder.hpp"

namespace goban::base {
namespace {

TEST(OutputFile, AppearsWhenItIsComplete) {
  const TestFolder folder;
  const std::string path = folder / "new/file";
  {
    auto dropped = OutputFile::create(path);
    ASSERT_TRUE(dropped);
    dropped->buffer() = "half";
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder / "new"));
  ASSERT_TRUE(write_file(path, "all"));
  EXPECT_EQ(TestFolder::read(path), "all");
  EXPECT_FALSE(write_file(folder / "new", "a folder"));
}

TEST(OutputFile, ALinkStays) {
  const TestFolder folder;
  const std::string file = folder.write("file", "old");
  std::filesystem::create_symlink("file", folder / "link");
  ASSERT_TRUE(write_file(folder / "link", "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(TestFolder::read(file), "new");
}

TEST(OutputFile, DevicesAndPipesAreWrittenTo) {
  // Renaming a file to /dev/null would take it away from everybody.
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const std::string pipe = fmt::format("/proc/self/fd/{}", ends[1]);
  ASSERT_TRUE(write_file(pipe, "through"));
  ::close(ends[1]);
  std::array<char, 16> text{};
  EXPECT_EQ(::read(ends[0], text.data(), text.size()), 7);
  EXPECT_STREQ(text.data(), "through");
  ::close(ends[0]);
  ASSERT_TRUE(write_file("/dev/null", "nothing"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace goban::base
