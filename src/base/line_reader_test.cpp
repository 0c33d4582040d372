#include "base/line_reader.hpp"

#include <gtest/gtest.h>
#include <string>

namespace goban::base {
namespace {

constexpr size_t kMax = LineReader::kLineBytesMax;

/// The lengths of the lines; negative for lines that are too long.
std::vector<int64_t> lengths(const std::string& text, size_t chunk) {
  MemorySource source(text, chunk);
  LineReader reader(source);
  std::vector<int64_t> out;
  Line line;
  while (reader.next(line)) {
    const auto length = static_cast<int64_t>(line.text.size());
    out.push_back(line.too_long ? -length : length);
    EXPECT_EQ(line.number, static_cast<int64_t>(out.size()));
  }
  EXPECT_TRUE(reader.status());
  EXPECT_EQ(reader.text_bytes(), static_cast<int64_t>(text.size()));
  return out;
}

TEST(LineReader, LinesAcrossBlocksKeepTheirText) {
  std::string text;
  std::vector<int64_t> expected;
  for (int64_t length = 0; text.size() < 3 * LineReader::kBlockBytes; length = length * 2 + 7) {
    const int64_t size = length % 300'000;
    text += std::string(static_cast<size_t>(size), 'x') + "\n";
    expected.push_back(size);
  }
  EXPECT_EQ(lengths(text, SIZE_MAX), expected);
  EXPECT_EQ(lengths(text, 4097), expected);
}

TEST(LineReader, TheLongestLineIsTakenWholeAndALongerOneCut) {
  const auto max = static_cast<int64_t>(kMax);
  const std::string text = std::string(kMax, 'a') + "\n" + std::string(kMax + 1, 'b') + "\nc\n" +
                           std::string(5 * kMax, 'd');
  for (const size_t chunk : {SIZE_MAX, size_t{100'003}}) {
    EXPECT_EQ(lengths(text, chunk), (std::vector<int64_t>{max, -max, 1, -max})) << chunk;
  }
}

TEST(LineReader, LineEndsAndEmptyInputs) {
  EXPECT_EQ(lengths("", SIZE_MAX), std::vector<int64_t>{});
  EXPECT_EQ(lengths("\n", SIZE_MAX), (std::vector<int64_t>{0}));
  EXPECT_EQ(lengths("a\r\n\r\nbc", 1), (std::vector<int64_t>{1, 0, 2}));
  EXPECT_EQ(lengths("\xEF\xBB\xBFx\n", 1), (std::vector<int64_t>{1}));
}

}  // namespace
}  // namespace goban::base
