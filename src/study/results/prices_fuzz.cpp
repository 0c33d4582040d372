// Any bytes as prices: accepted ones have a value in every hour, on any clock.
#include "study/results/prices.hpp"

#include <cmath>
#include <cstdint>

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto prices = goban::study::results::parse_prices(text, "fuzz.toml");
  if (!prices) {
    GOBAN_CHECK(!prices.error().text().empty());
    return 0;
  }
  GOBAN_CHECK(!prices->currency.empty() && prices->pue >= 1);
  GOBAN_CHECK(std::isfinite(prices->gpu_hour_rate()) && prices->gpu_hour_rate() >= 0);
  for (const auto* rate : {&prices->electricity, &prices->carbon_g}) {
    if (!rate->known()) continue;
    for (const int64_t hour : {int64_t{-200}, int64_t{-1}, int64_t{0}, int64_t{500'000}}) {
      GOBAN_CHECK(std::isfinite(rate->at(hour, prices->utc_offset_h)));
    }
  }
  return 0;
}
