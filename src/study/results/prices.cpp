#include "study/results/prices.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <limits>

#include "base/config.hpp"
#include "base/counted.hpp"
#include "base/csv.hpp"
#include "base/date_time.hpp"
#include "base/number.hpp"
#include "base/text_file.hpp"

namespace goban::study::results {
namespace {

using base::Result;
using base::Status;

constexpr double kMoneyMax = 1e9;     ///< of one unit, in any currency
constexpr double kCarbonMax_g = 1e5;  ///< per kWh
constexpr double kPueMax = 10;
constexpr int64_t kOffsetMax_h = 14;
/// What is longer is no gap, but a wrong date.
constexpr int64_t kGapMax_h = int64_t{366} * kHoursOfDay;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view kMean = "mean";
/// 1970-01-01 was a Thursday.
constexpr int64_t kHourOfWeekAtZero = 3 * kHoursOfDay;

/// Remainder that is never negative.
int64_t cyclic(int64_t value, int64_t cycle) { return (value % cycle + cycle) % cycle; }

/// Converts one file. A step that finds a problem records it and continues with a fallback.
class PriceReader {
 public:
  PriceReader(const base::ConfigValue& document, const std::string& file)
      : problems_(file), root_(document, "", problems_) {}

  Result<Prices> run() {
    root_.require("currency", "name the currency of all prices, such as \"EUR\"");
    prices_.currency = root_.text("currency");
    read_rate("electricity_per_kwh", -kMoneyMax, kMoneyMax, prices_.electricity);
    read_rate("carbon_g_per_kwh", 0, kCarbonMax_g, prices_.carbon_g);
    prices_.negative_hours =
        std::ranges::count_if(prices_.electricity.cycle, [](double price) { return price < 0; });
    prices_.hours = root_.text("hours");
    prices_.pue = root_.number("pue", 1, kPueMax, 1);
    read_gpu_hours();
    prices_.utc_offset_h = root_.whole("utc_offset_h", -kOffsetMax_h, kOffsetMax_h, 0);
    read_zero();
    read_missing();
    check_sources();
    root_.finish();
    if (auto status = problems_.status(); !status) return base::failure(status.error());
    return std::move(prices_);
  }

 private:
  void read_rate(const char* key, double least, double most, HourlyRate& rate) {
    rate.cycle = root_.numbers(key, least, most);
    const auto values = std::ssize(rate.cycle);
    const bool fits = values == 1 || values == kHoursOfDay || values == kHoursOfWeek;
    if (root_.has(key) && !fits && !problems_.any()) {
      root_.refuse(key, fmt::format("has {}", base::counted(values, "value")),
                   "give 1, 24 by hour of the day, or 168 by hour of the week from Monday");
    }
  }

  void read_gpu_hours() {
    if (root_.has("gpu_hour_value")) {
      prices_.gpu_hour_value = root_.number("gpu_hour_value", 0, kMoneyMax, 0);
    }
    const base::TimeNs life_ns = root_.duration("gpu_life");
    const double price = root_.number("gpu_price", 0, kMoneyMax, 0);
    if (root_.has("gpu_price") != root_.has("gpu_life")) {
      root_.refuse(root_.has("gpu_price") ? "gpu_price" : "gpu_life",
                   "the hardware's price and life belong together",
                   "give gpu_price and gpu_life, or neither");
    }
    if (!root_.has("gpu_price") || problems_.any()) return;
    if (life_ns < base::kDay) {
      root_.refuse("gpu_life", "is below a day", "give a duration such as \"1826d\"");
    }
    prices_.gpu_price = price;
    prices_.gpu_life_h = base::to_seconds(life_ns) / static_cast<double>(base::kHour_s);
  }

  void read_zero() {
    const std::string text = root_.text("history_zero");
    if (text.empty()) return;
    const auto date = base::parse_date_time(text);
    if (date) {
      prices_.history_zero_ns = date->unix_ns;
    } else {
      root_.refuse("history_zero", "is not a date and time",
                   "write it as \"2024-03-04 00:00:00\"; it is UTC unless it has a zone");
    }
  }

  void read_missing() {
    const std::string text = root_.text("missing_hours", "refuse");
    prices_.fills_gaps = text == kMean;
    if (text != kMean && text != "refuse") {
      root_.refuse("missing_hours", fmt::format("unknown rule {}", text), "known: refuse, mean");
    }
  }

  void check_sources() {
    if (problems_.any()) return;
    if (!prices_.hours.empty() && prices_.prices_energy()) {
      root_.refuse("hours", "the file replaces electricity_per_kwh and carbon_g_per_kwh",
                   "give the hours or the other two");
    }
    const bool prices_gpus = prices_.gpu_hour_value || prices_.gpu_price;
    if (prices_.hours.empty() && !prices_.prices_energy() && !prices_gpus) {
      root_.refuse("currency", "nothing has a price",
                   "give electricity_per_kwh, hours, gpu_hour_value, or gpu_price and gpu_life");
    }
  }

  base::ConfigProblems problems_;
  base::TableReader root_;
  Prices prices_;
};

/// Reads dated hours row by row.
class HourReader {
 public:
  HourReader(std::string_view text, const std::string& file, bool fills_gaps)
      : csv_(text, file), fills_gaps_(fills_gaps) {}

  Status run() {
    const auto time = csv_.require("time");
    if (!time) return base::failure(time.error());
    for (const std::string& name : csv_.header()) {
      const bool known = name == "time" || name == kColumns[0] || name == kColumns[1];
      if (known) continue;
      return base::bad_data({csv_.file(), 1, 0, name}, "unknown column",
                            "known columns: time, electricity_per_kwh, carbon_g_per_kwh");
    }
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (!csv_.column(kColumns[i])) continue;
      const auto column = csv_.require(kColumns[i]);
      if (!column) return base::failure(column.error());
      columns_[i] = *column;
    }
    if (!columns_[0] && !columns_[1]) {
      return base::bad_data({csv_.file(), 1, 0, ""}, "the file has neither prices nor carbon",
                            "give a column electricity_per_kwh or carbon_g_per_kwh");
    }
    while (csv_.next()) {
      if (Status read = read_row(*time); !read) return read;
    }
    if (Status read = csv_.status(); !read) return read;
    if (rows_ > 0) return {};
    return base::bad_data({csv_.file(), 0, 0, ""}, "the file has no hours", "give a row per hour");
  }

  /// Moves the values of a column into the rate and fills its gaps. Returns the number of gaps.
  int64_t take(size_t column, HourlyRate& rate) {
    if (!columns_[column]) return 0;
    rate.dated = std::move(values_[column]);
    rate.first_hour = first_hour_;
    double sum = 0;
    int64_t known = 0;
    std::array<double, kHoursOfDay> sums{};
    std::array<int64_t, kHoursOfDay> counts{};
    for (size_t i = 0; i < rate.dated.size(); ++i) {
      if (std::isnan(rate.dated[i])) continue;
      const size_t of_day = hour_of_day(i);
      sums[of_day] += rate.dated[i];
      ++counts[of_day];
      sum += rate.dated[i];
      ++known;
    }
    for (size_t i = 0; i < sums.size(); ++i) {
      if (counts[i] > 0) {
        rate.of_day[i] = sums[i] / static_cast<double>(counts[i]);
      } else if (known > 0) {
        rate.of_day[i] = sum / static_cast<double>(known);
      }
    }
    for (size_t i = 0; i < rate.dated.size(); ++i) {
      if (std::isnan(rate.dated[i])) rate.dated[i] = rate.of_day[hour_of_day(i)];
    }
    return std::ssize(rate.dated) - known;
  }

  [[nodiscard]] bool has_values(size_t column) const {
    return std::ranges::any_of(values_[column], [](double value) { return !std::isnan(value); });
  }
  [[nodiscard]] bool has(size_t column) const { return columns_[column].has_value(); }
  [[nodiscard]] int64_t negative() const { return negative_; }

  static constexpr std::array<std::string_view, 2> kColumns = {"electricity_per_kwh",
                                                               "carbon_g_per_kwh"};

 private:
  [[nodiscard]] size_t hour_of_day(size_t row) const {
    return static_cast<size_t>(cyclic(first_hour_ + static_cast<int64_t>(row), kHoursOfDay));
  }

  Status read_row(size_t time_column) {
    const std::string_view text = csv_.field(time_column);
    const auto date = base::parse_date_time(text);
    if (!date || date->unix_ns % base::kHour != 0) {
      return base::bad_data(
          csv_.place(time_column),
          fmt::format("\"{}\" is not a date and time on the hour", text.substr(0, 40)),
          "write it as 2024-03-04 00:00:00, one row per hour; it is UTC unless it has a zone");
    }
    const int64_t hour = date->unix_ns / base::kHour;
    if (rows_ == 0) first_hour_ = hour;
    const int64_t missing = hour - first_hour_ - rows_;
    if (missing < 0) {
      return base::bad_data(csv_.place(time_column), "is not after the row before",
                            "sort the rows, and write times in UTC or with a zone, so that no "
                            "hour occurs twice");
    }
    if (missing > 0 && !fills_gaps_) {
      return base::bad_data(csv_.place(time_column),
                            base::counted(missing, "hour is missing before this row",
                                          "hours are missing before this row"),
                            std::string(kGapRemedy));
    }
    if (missing > kGapMax_h) {
      return base::bad_data(
          csv_.place(time_column),
          "is more than a year after the row before, which is too long for a mean",
          "correct the date, or remove the rows before");
    }
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (!columns_[i]) continue;
      values_[i].resize(static_cast<size_t>(hour - first_hour_), kMissing);
      const auto value = read_value(i);
      if (!value) return base::failure(value.error());
      values_[i].push_back(*value);
    }
    rows_ = hour - first_hour_ + 1;
    return {};
  }

  Result<double> read_value(size_t i) {
    const std::string_view text = csv_.field(*columns_[i]);
    const base::Place place = csv_.place(*columns_[i]);
    if (text.empty()) {
      if (fills_gaps_) return kMissing;
      return base::bad_data(place, "is empty", std::string(kGapRemedy));
    }
    const bool is_price = i == 0;
    const double least = is_price ? -kMoneyMax : 0;
    const double most = is_price ? kMoneyMax : kCarbonMax_g;
    const auto value = base::parse_double(text);
    if (!value || *value < least || *value > most) {
      return base::bad_data(place,
                            fmt::format("\"{}\" is not a number from {} to {}", text.substr(0, 40),
                                        base::number_text(least), base::number_text(most)),
                            is_price ? "give the price of a kWh; it may be negative"
                                     : "give grams of CO2 equivalents per kWh");
    }
    negative_ += is_price && *value < 0 ? 1 : 0;
    return *value;
  }

  static constexpr std::string_view kGapRemedy =
      "add it, or write missing_hours = \"mean\" to use the mean of the same hour of the day";

  base::CsvReader csv_;
  bool fills_gaps_;
  std::array<std::optional<size_t>, 2> columns_;
  std::array<std::vector<double>, 2> values_;
  int64_t first_hour_ = 0;
  int64_t rows_ = 0;  ///< hours so far, including missing ones
  int64_t negative_ = 0;
};

}  // namespace

double HourlyRate::at(int64_t hour, int64_t utc_offset_h) const {
  if (dated.empty()) {
    const int64_t local = hour + utc_offset_h + kHourOfWeekAtZero;
    return cycle[static_cast<size_t>(cyclic(local, std::ssize(cycle)))];
  }
  if (covers(hour)) return dated[static_cast<size_t>(hour - first_hour)];
  return of_day[static_cast<size_t>(cyclic(hour, kHoursOfDay))];
}

double Prices::gpu_hour_rate() const {
  if (gpu_hour_value) return *gpu_hour_value;
  return gpu_price ? *gpu_price / gpu_life_h : 0;
}

Result<Prices> parse_prices(std::string_view toml, const std::string& file) {
  const auto document = base::parse_config(toml, file);
  if (!document) return base::failure(document.error());
  return PriceReader(*document, file).run();
}

Status parse_price_hours(std::string_view csv, const std::string& file, Prices& prices) {
  HourReader reader(csv, file, prices.fills_gaps);
  if (Status read = reader.run(); !read) return read;
  for (size_t column = 0; column < HourReader::kColumns.size(); ++column) {
    if (!reader.has(column) || reader.has_values(column)) continue;
    return base::bad_data({file, 0, 0, std::string(HourReader::kColumns[column])},
                          "the column has no value", "give values, or remove the column");
  }
  prices.filled_hours =
      std::max(reader.take(0, prices.electricity), reader.take(1, prices.carbon_g));
  prices.negative_hours = reader.negative();
  return {};
}

Result<Prices> read_prices(const std::string& path) {
  constexpr size_t kPricesBytesMax = size_t{1} << 20;
  constexpr size_t kHoursBytesMax = size_t{64} << 20;
  const auto text = base::read_text_file(path, kPricesBytesMax);
  if (!text) return base::failure(text.error());
  auto prices = parse_prices(*text, base::input_name(path));
  if (!prices || prices->hours.empty()) return prices;
  const std::string hours = (std::filesystem::path(path).parent_path() / prices->hours).string();
  const auto csv = base::read_text_file(hours, kHoursBytesMax);
  if (!csv) return base::failure(csv.error());
  if (Status read = parse_price_hours(*csv, hours, *prices); !read) {
    return base::failure(read.error());
  }
  return prices;
}

}  // namespace goban::study::results
