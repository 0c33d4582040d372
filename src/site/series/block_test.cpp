#include "site/series/block.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

namespace goban::site::series {
namespace {

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string block_of(const std::vector<uint16_t>& codes, int64_t start_ms = 0,
                     uint32_t step_ms = 60'000, uint16_t code_max = 100) {
  std::string bytes;
  append_block(bytes, {7, step_ms, start_ms, static_cast<uint32_t>(codes.size()), 0}, codes,
               code_max);
  return bytes;
}

TEST(Block, KeepsValuesAndMarks) {
  std::vector<uint16_t> codes;
  for (uint16_t i = 0; i < 200; ++i) codes.push_back(i % 101);
  codes[0] = codes[1] = kMissingCode;
  codes[70] = kStaleCode;
  codes[71] = kNotAvailableCode;
  codes[199] = kMissingCode;
  const std::string bytes = block_of(codes, 1'554'422'430'000);
  const auto view = BlockView::parse(bytes_of(bytes));
  ASSERT_TRUE(view);
  std::vector<uint16_t> read;
  ASSERT_TRUE(view->decode(read));
  EXPECT_EQ(read, codes);
  EXPECT_EQ(view->head().series, 7U);
}

TEST(Block, HoursFollowTheClockAndSumUp) {
  // From 10 minutes before an hour, a sample each minute.
  std::vector<uint16_t> codes(100, 40);
  codes[5] = 90;
  codes[50] = kStaleCode;
  const std::string bytes = block_of(codes, kHour_ms * 1000 - 10 * 60'000);
  std::vector<Hour> hours;
  ASSERT_TRUE(BlockView::parse(bytes_of(bytes))->for_each_hour([&](const Hour& hour) {
    hours.push_back(hour);
    return true;
  }));
  ASSERT_EQ(hours.size(), 3U);
  EXPECT_EQ(hours[0].count, 10U);
  EXPECT_EQ(hours[0].min, 40);
  EXPECT_EQ(hours[0].max, 90);
  EXPECT_EQ(hours[0].sum, 9U * 40 + 90);
  EXPECT_EQ(hours[1].count, 60U);
  EXPECT_EQ(hours[1].values, 59U);
  EXPECT_EQ(hours[1].stale, 1U);
  EXPECT_EQ(hours[1].sum, 59U * 40);
  EXPECT_EQ(hours[2].count, 30U);
}

TEST(Block, AnHourOfNothingHasNoValue) {
  const std::string bytes = block_of(std::vector<uint16_t>(60, kNotAvailableCode));
  CodeCounts counts(100);
  ASSERT_TRUE(BlockView::parse(bytes_of(bytes))->count(0, 60, counts));
  EXPECT_EQ(counts.values(), 0U);
  EXPECT_EQ(counts.not_available(), 60U);
}

TEST(Block, ConstantHoursTakeTwoBytes) {
  const std::string idle = block_of(std::vector<uint16_t>(1440, 0));
  const std::string twice = block_of(std::vector<uint16_t>(720, 0));
  EXPECT_EQ(idle.size() - twice.size(), 12U * 2);
}

TEST(Block, SlotsOfAWindow) {
  const BlockHead head{0, 60'000, 1'000'000, 10, 0};  // last slot at 1,540,000
  EXPECT_EQ(BlockView::slot_from(head, 0), 0U);
  EXPECT_EQ(BlockView::slot_from(head, 1'000'000), 0U);
  EXPECT_EQ(BlockView::slot_from(head, 1'000'001), 1U);
  EXPECT_EQ(BlockView::slot_from(head, 1'540'000), 9U);
  EXPECT_EQ(BlockView::slot_from(head, 1'540'001), 10U);
  EXPECT_EQ(BlockView::slot_to(head, 999'999), 0U);
  EXPECT_EQ(BlockView::slot_to(head, 1'000'000), 1U);
  EXPECT_EQ(BlockView::slot_to(head, 1'539'999), 9U);
  EXPECT_EQ(BlockView::slot_to(head, 1'540'000), 10U);
}

RC_GTEST_PROP(Block, AnyCodesComeBack, ()) {
  const bool wide = *rc::gen::arbitrary<bool>();
  const uint16_t code_max = wide ? kLargestCode : 100;
  const auto mark = rc::gen::element(kMissingCode, kStaleCode, kNotAvailableCode);
  const auto value = rc::gen::inRange<uint16_t>(0, static_cast<uint16_t>(code_max + 1));
  const auto codes = *rc::gen::nonEmpty(rc::gen::container<std::vector<uint16_t>>(
      rc::gen::weightedOneOf<uint16_t>({{4, value}, {1, mark}, {3, rc::gen::just<uint16_t>(3)}})));
  const auto step_ms = *rc::gen::inRange<uint32_t>(1, 10'000'000);
  const auto start_ms = *rc::gen::inRange<int64_t>(-1'000'000'000'000, 4'000'000'000'000);
  const std::string bytes = block_of(codes, start_ms, step_ms, code_max);
  const auto view = BlockView::parse(bytes_of(bytes));
  RC_ASSERT(view.has_value());
  std::vector<uint16_t> read;
  RC_ASSERT(view->decode(read));
  RC_ASSERT(read == codes);
  const auto from = *rc::gen::inRange<size_t>(0, codes.size() + 1);
  const auto to = *rc::gen::inRange<size_t>(from, codes.size() + 1);
  CodeCounts counted(code_max);
  CodeCounts expected(code_max);
  RC_ASSERT(view->count(from, to, counted));
  for (size_t i = from; i < to; ++i) expected.add(codes[i]);
  for (uint32_t code = 0; code <= code_max; ++code) {
    RC_ASSERT(counted.count(static_cast<uint16_t>(code)) ==
              expected.count(static_cast<uint16_t>(code)));
  }
  RC_ASSERT(counted.stale() == expected.stale());
  RC_ASSERT(counted.not_available() == expected.not_available());
}

}  // namespace
}  // namespace goban::site::series
