#include "base/sha256.hpp"

#include <gtest/gtest.h>

namespace goban::base {
namespace {

TEST(Sha256, VectorsOfFips180) {
  EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(sha256(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, KnownAnswers) {  // of pieces of all sizes, across the borders of blocks
  const std::string two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  for (const std::string& text : {std::string(), std::string("abc"), two_blocks,
                                  std::string(1000, 'a'), std::string(64, 'b')}) {
    for (size_t piece = 1; piece <= 130; ++piece) {
      Sha256Stream stream;
      for (size_t at = 0; at < text.size(); at += piece) {
        stream.add(std::string_view(text).substr(at, piece));
      }
      EXPECT_EQ(stream.digest(), sha256(text)) << text.size() << " bytes in pieces of " << piece;
    }
  }
}

TEST(Sha256, VectorsOfRfc4231) {
  EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex(hmac_sha256(std::string(131, '\xaa'),
                            "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

}  // namespace
}  // namespace goban::base
