#include "base/units.hpp"

#include <gtest/gtest.h>

namespace goban::base {
namespace {

TEST(Units, Sizes) {
  EXPECT_EQ(parse_bytes("16 GiB"), int64_t{16} << 30);
  EXPECT_EQ(parse_bytes("1.6TB"), 1'600'000'000'000);
  EXPECT_EQ(parse_bytes(" 3 KiB "), 3072);
  EXPECT_EQ(parse_bytes("2MB"), 2'000'000);
  EXPECT_EQ(parse_bytes("4096"), 4096);
  EXPECT_EQ(parse_bytes("0"), 0);
  for (const char* text : {"", "GiB", "16 GX", "16 gib", "1,5 GB", "nan", "inf", "16 GiB GiB"}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
  }
  EXPECT_EQ(parse_bytes("-1 GB").error().text(),
            "\"-1 GB\" is negative (such as \"16 GiB\" or a number of bytes)");
  EXPECT_EQ(parse_bytes("1e30 TiB").error().message, "\"1e30 TiB\" is too large");
}

TEST(Units, Spans) {
  EXPECT_EQ(parse_duration("72h"), 72 * 3600 * kSecond);
  EXPECT_EQ(parse_duration("1d 12h"), 36 * 3600 * kSecond);
  EXPECT_EQ(parse_duration("1h30m"), 5400 * kSecond);
  EXPECT_EQ(parse_duration("5 min"), 300 * kSecond);
  EXPECT_EQ(parse_duration("1.5 us"), 1500);
  EXPECT_EQ(parse_duration("7ns"), 7);
  EXPECT_EQ(parse_duration("250ms"), 250'000'000);
  EXPECT_EQ(parse_duration("01:30:05"), 5405 * kSecond);
  EXPECT_EQ(parse_duration("168:00:00"), 168 * 3600 * kSecond);
  EXPECT_EQ(parse_duration("90"), 90 * kSecond);
  EXPECT_EQ(parse_duration("0s"), 0);
  for (const char* text : {"", "h", "1 week", "1:2", "1:60:00", "1:2:3:4", "-1:00:00", "1h x"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
  EXPECT_EQ(parse_duration("-5s").error().message, "\"-5s\" is negative");
  EXPECT_EQ(parse_duration("1e9 d").error().message, "\"1e9 d\" is too long");
}

TEST(Units, Bandwidths) {
  EXPECT_EQ(parse_bandwidth("12.5 GB/s"), 12.5e9);
  EXPECT_EQ(parse_bandwidth("100 Gb/s"), 12.5e9);
  EXPECT_EQ(parse_bandwidth("1 GiB/s"), 1073741824.0);
  EXPECT_EQ(parse_bandwidth("1e9"), 1e9);
  for (const char* text : {"", "12 GB", "12 GB/h", "GB/s", "12 Xb/s"}) {
    EXPECT_FALSE(parse_bandwidth(text)) << text;
  }
}

TEST(Units, TextsReadBackEqual) {
  for (const int64_t bytes : {int64_t{0}, int64_t{1}, int64_t{1} << 34, int64_t{1'600'000'000'000},
                              int64_t{1536}, (int64_t{1} << 60) + 1, int64_t{999}}) {
    EXPECT_EQ(parse_bytes(bytes_text(bytes)), bytes) << bytes_text(bytes);
  }
  constexpr TimeNs kYear_ns = 365 * 86400 * kSecond;
  for (const TimeNs span : {TimeNs{0}, TimeNs{1500}, 3600 * kSecond, kYear_ns + 1}) {
    EXPECT_EQ(parse_duration(duration_text(span)), span) << duration_text(span);
  }
  EXPECT_EQ(bytes_text(int64_t{16} << 30), "16 GiB");
  EXPECT_EQ(bytes_text(1'600'000'000'000), "1600 GB");
  EXPECT_EQ(duration_text(72 * 3600 * kSecond), "3d");
}

}  // namespace
}  // namespace goban::base
