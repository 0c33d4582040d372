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

TEST(Base64, ComesBack) {
  for (const std::string& bytes :
       {std::string(), std::string("f"), std::string("fo"), std::string("\xfb\xff\xfe\0", 4)}) {
    EXPECT_EQ(from_base64(base64(bytes)), bytes);
  }
  for (const char* bad : {"Zg", "Zg=", "Zg==Zg==", "Z*==", "====x"}) {
    EXPECT_EQ(from_base64(bad), std::nullopt) << bad;
  }
}

TEST(Gzip, UnpacksInMemory) {
  for (const std::string& bytes : {std::string(), std::string(100000, 'x')}) {
    const std::string packed = gzip(bytes);
    EXPECT_EQ(gunzip(packed, 100000), bytes);
    EXPECT_EQ(gunzip(std::string_view(packed).substr(0, packed.size() - 1), 100000), std::nullopt);
  }
  EXPECT_EQ(gunzip(gzip(std::string(100000, 'x')), 99999), std::nullopt);
  EXPECT_EQ(gunzip("no gzip", 100), std::nullopt);
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
