// Any bytes as dated hours: accepted ones leave no gap, whether gaps are refused or filled. What is
// accepted with gaps refused is read alike with gaps filled.
#include <cmath>
#include <cstdint>

#include "base/check.hpp"
#include "study/results/prices.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using goban::study::results::Prices;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Prices strict;
  Prices filled;
  filled.fills_gaps = true;
  const auto is_whole = goban::study::results::parse_price_hours(text, "fuzz.csv", strict);
  const auto is_read = goban::study::results::parse_price_hours(text, "fuzz.csv", filled);
  GOBAN_CHECK(is_read.has_value() || !is_whole.has_value());
  GOBAN_CHECK(!is_whole || (strict.filled_hours == 0 && filled.filled_hours == 0));
  if (!is_read) {
    GOBAN_CHECK(!is_read.error().text().empty() && !filled.prices_energy());
    return 0;
  }
  GOBAN_CHECK(filled.prices_energy());
  for (const auto* rate : {&filled.electricity, &filled.carbon_g}) {
    for (const double value : rate->dated) GOBAN_CHECK(std::isfinite(value));
    if (!rate->known()) continue;
    GOBAN_CHECK(std::isfinite(rate->at(-1, 0)) && std::isfinite(rate->at(2'000'000, 0)));
  }
  if (is_whole) GOBAN_CHECK(strict.electricity.dated == filled.electricity.dated);
  return 0;
}
