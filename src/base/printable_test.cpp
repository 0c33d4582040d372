#include "base/printable.hpp"

#include <gtest/gtest.h>

#include "base/result.hpp"

namespace goban::base {
namespace {

TEST(Printable, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(printable("plain \xc3\xa4\xe6\x97\xa5\n\tas it is"),
            "plain \xc3\xa4\xe6\x97\xa5\n\tas it is");
  EXPECT_EQ(printable("\x1b[31mred\r\x7f"), "\\x1b[31mred\\x0d\\x7f");
  EXPECT_EQ(printable(std::string_view("\0\x01", 2)), "\\x00\\x01");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J");
  EXPECT_EQ(printable("\xc2\xa0"), "\xc2\xa0");
}

TEST(Printable, ErrorsAreShownSo) {
  const auto error =
      bad_data({.file = "a\x1b.csv", .line = 1, .column = 0, .field = {}}, "no such \x07 thing")
          .value();
  EXPECT_EQ(error.text(), "a\\x1b.csv:1: no such \\x07 thing");
}

}  // namespace
}  // namespace goban::base
