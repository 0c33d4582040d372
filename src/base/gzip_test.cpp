#include "base/gzip.hpp"

#include <fstream>
#include <gtest/gtest.h>

#include "base/text_file.hpp"

namespace goban::base {
namespace {

TEST(Base64, FollowsTheVectorsOfTheRfc) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xfb\xff\xfe"), "+//+");
}

TEST(Gzip, ReadsBackEqual) {
  const std::string path = testing::TempDir() + "goban_gzip_test.gz";
  for (const std::string& bytes :
       {std::string(), std::string("a\0b", 3), std::string(100000, 'x')}) {
    std::ofstream(path, std::ios::binary) << gzip(bytes);
    const auto read = read_text_file(path);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, bytes);
  }
  EXPECT_EQ(gzip("same"), gzip("same"));
  EXPECT_LT(gzip(std::string(100000, 'x')).size(), 300U);
}

}  // namespace
}  // namespace goban::base
