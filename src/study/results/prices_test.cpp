// Prices: what files may say, which values an hour gets, and what is refused.
#include "study/results/prices.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_folder.hpp"

namespace goban::study::results {
namespace {

using testing::HasSubstr;

/// `count` numbers from 0 on: [0, 1, ...].
std::string counting(int count) {
  std::string out = "[0";
  for (int i = 1; i < count; ++i) out += fmt::format(", {}", i);
  return out + "]";
}

Prices prices_of(const std::string& toml) {
  const auto prices = parse_prices("currency = \"EUR\"\n" + toml, "p.toml");
  EXPECT_TRUE(prices) << prices.error().text();
  return prices.value_or(Prices{});
}

std::string problem(const std::string& toml) {
  const auto prices = parse_prices(toml, "p.toml");
  return prices ? std::string() : prices.error().text();
}

/// Dated hours; the error, if any, in `problem`.
Prices hours_of(const std::string& csv, bool fills_gaps, std::string& problem) {
  Prices prices;
  prices.fills_gaps = fills_gaps;
  const auto read = parse_price_hours(csv, "h.csv", prices);
  problem = read ? std::string() : read.error().text();
  return prices;
}

TEST(Prices, ClocksOfADayAndOfAWeek) {
  constexpr int64_t kMonday = 96;  // 1970-01-05 00:00 UTC, in hours
  const Prices day = prices_of("electricity_per_kwh = " + counting(24) + "\nutc_offset_h = 9\n");
  EXPECT_EQ(day.electricity.at(kMonday, day.utc_offset_h), 9) << "midnight UTC is 9:00 in Japan";
  EXPECT_EQ(day.electricity.at(kMonday + 15, day.utc_offset_h), 0);
  EXPECT_EQ(day.electricity.at(kMonday - 9 - 24 * 1000, day.utc_offset_h), 0) << "before 1970";
  const Prices week = prices_of("carbon_g_per_kwh = " + counting(168) + "\n");
  EXPECT_EQ(week.carbon_g.at(kMonday, 0), 0) << "the week begins on Monday";
  EXPECT_EQ(week.carbon_g.at(kMonday - 1, 0), 167);
  EXPECT_EQ(week.carbon_g.at(0, 0), 72) << "1970-01-01 was a Thursday";
  EXPECT_EQ(prices_of("electricity_per_kwh = 0.2\n").electricity.at(12345, 3), 0.2);
  EXPECT_FALSE(week.electricity.known());
}

TEST(Prices, AGpuHourHasItsValueElseThePriceOfTheHardware) {
  EXPECT_EQ(prices_of("gpu_price = 24000\ngpu_life = \"1000d\"\n").gpu_hour_rate(), 1);
  EXPECT_EQ(
      prices_of("gpu_price = 24000\ngpu_life = \"1000d\"\ngpu_hour_value = 3\n").gpu_hour_rate(),
      3);
  EXPECT_EQ(prices_of("electricity_per_kwh = 1\n").gpu_hour_rate(), 0);
}

TEST(Prices, NegativePricesAreAcceptedAndCounted) {
  const Prices prices = prices_of("electricity_per_kwh = -0.05\n");
  EXPECT_EQ(prices.electricity.at(0, 0), -0.05);
  EXPECT_EQ(prices.negative_hours, 1);
  EXPECT_THAT(problem("currency = \"EUR\"\ncarbon_g_per_kwh = -1\n"),
              HasSubstr("p.toml:2:20: carbon_g_per_kwh: -1 is out of range"));
}

TEST(Prices, ProblemsNamePlaceAndRemedy) {
  EXPECT_THAT(problem("electricity_per_kwh = 1\n"), HasSubstr("currency: is missing"));
  EXPECT_THAT(problem("currency = \"EUR\"\n"), HasSubstr("nothing has a price"));
  EXPECT_THAT(problem("currency = \"EUR\"\nelectricity_per_kwh = [1, 2]\n"),
              HasSubstr("electricity_per_kwh: has 2 values (give 1, 24 by hour of the day"));
  EXPECT_THAT(problem("currency = \"EUR\"\npue = 0.8\nelectricity_per_kwh = 1\n"),
              HasSubstr("pue: 0.8 is out of range"));
  EXPECT_THAT(problem("currency = \"EUR\"\ngpu_price = 9\n"),
              HasSubstr("gpu_price: the hardware's price and life belong together"));
  EXPECT_THAT(problem("currency = \"EUR\"\ngpu_price = 9\ngpu_life = \"3h\"\n"),
              HasSubstr("gpu_life: is below a day"));
  EXPECT_THAT(problem("currency = \"EUR\"\nhours = \"a.csv\"\ncarbon_g_per_kwh = 1\n"),
              HasSubstr("hours: the file replaces"));
  EXPECT_THAT(problem("currency = \"EUR\"\ngpu_hour_value = 1\nmissing_hours = \"guess\"\n"),
              HasSubstr("missing_hours: unknown rule guess (known: refuse, mean)"));
  EXPECT_THAT(problem("currency = \"EUR\"\ngpu_hour_value = 1\nhistory_zero = \"today\"\n"),
              HasSubstr("history_zero: is not a date and time"));
  EXPECT_THAT(problem("currency = \"EUR\"\ngpu_hour_value = 1\nelectricty_per_kwh = 1\n"),
              HasSubstr("electricity_per_kwh"))
      << "the nearest key";
}

TEST(PriceHours, HaveTheirZoneAndEndInTheMeanOfTheHourOfTheDay) {
  std::string error;
  std::string csv = "time,electricity_per_kwh\n";
  // Two days: the price is the hour on the first, the hour + 10 on the second.
  for (int i = 0; i < 48; ++i) {
    csv += fmt::format("2024-03-{:02}T{:02}:00:00+01:00,{}\n", 4 + i / 24, i % 24,
                       i % 24 + 10 * (i / 24) - 1);
  }
  const Prices prices = hours_of(csv, false, error);
  ASSERT_EQ(error, "");
  const int64_t first = prices.electricity.first_hour;
  EXPECT_EQ(first * 3600, 1'709'506'800) << "2024-03-03 23:00 UTC";
  EXPECT_EQ(prices.electricity.at(first, 5), -1) << "no clock shifts dated hours";
  EXPECT_EQ(prices.electricity.at(first + 30, 0), 15);
  EXPECT_TRUE(prices.electricity.covers(first + 47));
  EXPECT_FALSE(prices.electricity.covers(first + 48));
  EXPECT_FALSE(prices.electricity.covers(first - 1));
  EXPECT_EQ(prices.electricity.at(first + 48, 0), 4) << "the mean of -1 and 9";
  EXPECT_EQ(prices.electricity.at(first - 24, 0), 4);
  EXPECT_EQ(prices.negative_hours, 1);
  EXPECT_FALSE(prices.carbon_g.known());
}

TEST(PriceHours, GapsAreRefusedOrFilled) {
  const std::string csv =
      "time,electricity_per_kwh,carbon_g_per_kwh\n"
      "2024-03-04 00:00:00,1,100\n"
      "2024-03-04 02:00:00,3,\n"
      "2024-03-05 00:00:00,2,300\n";
  std::string error;
  static_cast<void>(hours_of(csv, false, error));
  EXPECT_EQ(error,
            "h.csv:3:1: time: 1 hour is missing before this row (add it, or write missing_hours = "
            "\"mean\" to use the mean of the same hour of the day)");
  const Prices filled = hours_of(csv, true, error);
  ASSERT_EQ(error, "");
  EXPECT_EQ(filled.filled_hours, 23) << "of 25 hours, 2 have carbon";
  const int64_t first = filled.electricity.first_hour;
  EXPECT_EQ(filled.electricity.at(first + 1, 0), 2) << "no other 1:00: the mean of all";
  EXPECT_EQ(filled.electricity.at(first + 2, 0), 3);
  EXPECT_EQ(filled.electricity.at(first + 48, 0), 1.5) << "the mean of both midnights";
  EXPECT_EQ(filled.carbon_g.at(first + 2, 0), 200);
}

TEST(PriceHours, AWrongYearIsNoGap) {
  std::string error;
  static_cast<void>(hours_of(
      "time,electricity_per_kwh\n2024-03-04 00:00:00,1\n2034-03-04 01:00:00,3\n", true, error));
  EXPECT_EQ(error,
            "h.csv:3:1: time: is more than a year after the row before, which is too long for a "
            "mean (correct the date, or remove the rows before)");
}

TEST(PriceHours, ProblemsNamePlaceAndRemedy) {
  const auto error_of = [](const std::string& csv) {
    std::string error;
    static_cast<void>(hours_of(csv, false, error));
    return error;
  };
  EXPECT_THAT(error_of("time,electricity_per_kwh\n2024-03-04 00:30:00,1\n"),
              HasSubstr("h.csv:2:1: time: \"2024-03-04 00:30:00\" is not a date and time on the"));
  EXPECT_THAT(error_of("time,electricity_per_kwh\n2024-03-04 01:00:00,1\n2024-03-04 01:00:00,1\n"),
              HasSubstr("h.csv:3:1: time: is not after the row before"));
  EXPECT_THAT(error_of("time,electricity_per_kwh\n2024-03-04 01:00:00,dear\n"),
              HasSubstr("h.csv:2:21: electricity_per_kwh: \"dear\" is not a number"));
  EXPECT_THAT(error_of("time,carbon_g_per_kwh\n2024-03-04 01:00:00,-4\n"),
              HasSubstr("\"-4\" is not a number from 0"));
  EXPECT_THAT(error_of("time,electricity_per_kwh\n2024-03-04 01:00:00,\n"),
              HasSubstr("electricity_per_kwh: is empty (add it"));
  EXPECT_THAT(error_of("time\n2024-03-04 01:00:00\n"), HasSubstr("neither prices nor carbon"));
  EXPECT_THAT(error_of("time,price\n"), HasSubstr("price: unknown column"));
  EXPECT_THAT(error_of("time,electricity_per_kwh\n"), HasSubstr("the file has no hours"));
}

TEST(ReadPrices, FindsTheHoursBesideTheFile) {
  const base::TestFolder folder("prices");
  const std::string path = folder.write("p.toml", "currency = \"EUR\"\nhours = \"h.csv\"\n");
  const auto missing = read_prices(path);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().text(), HasSubstr("h.csv"));
  static_cast<void>(folder.write("h.csv", "time,electricity_per_kwh\n2024-03-04 00:00:00,0.5\n"));
  const auto prices = read_prices(path);
  ASSERT_TRUE(prices) << prices.error().text();
  EXPECT_EQ(prices->electricity.dated, std::vector<double>{0.5});
}

}  // namespace
}  // namespace goban::study::results
