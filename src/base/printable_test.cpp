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

TEST(Printable, ShowsWhatReordersOrBreaksLines) {
  // U+202E makes "exe.gpj" of "jpg.exe"; U+2028 ends a line.
  EXPECT_EQ(printable("a\u202egpj.exe"), "a\\xe2\\x80\\xaegpj.exe");
  for (const char* each :
       {"\u061c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202e", "\u2066", "\u2069"}) {
    EXPECT_EQ(unsafe_bytes(each), std::string_view(each).size()) << each;
  }
  for (const char* each : {"\u061b", "\u061d", "\u200d", "\u2010", "\u2027", "\u202f", "\u2065",
                           "\u206a", "\u05d0", "\U0001f600"}) {
    EXPECT_EQ(unsafe_bytes(each), 0u) << each;
  }
}

TEST(Printable, ErrorsAreShownSo) {
  const auto error =
      bad_data({.file = "a\x1b.csv", .line = 1, .column = 0, .field = {}}, "no such \x07 thing")
          .value();
  EXPECT_EQ(error.text(), "a\\x1b.csv:1: no such \\x07 thing");
}

}  // namespace
}  // namespace goban::base
