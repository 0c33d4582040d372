#include "base/crc32c.hpp"

#include <gtest/gtest.h>
#include <string>

namespace goban::base {
namespace {

TEST(Crc32c, AgreesWithRfc3720) {  // appendix B.4
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(""), 0U);
}

}  // namespace
}  // namespace goban::base
