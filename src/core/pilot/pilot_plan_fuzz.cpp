// Any bytes as the plan of a pilot: a valid one is equal after writing and reading, and every time
// has its period.
#include "core/pilot/pilot_plan.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace pilot = goban::core::pilot;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto plan = pilot::parse_plan(text, "fuzz.json");
  if (!plan) {
    GOBAN_CHECK(!plan.error().text().empty());
    return 0;
  }
  const auto again = pilot::parse_plan(pilot::to_json(*plan).dump(), "again.json");
  GOBAN_CHECK(again && again->pairs == plan->pairs && again->seed == plan->seed);
  int32_t of_b = 0;
  for (int32_t period = 0; period < plan->num_periods(); ++period) {
    of_b += plan->arm(period) == pilot::Arm::B ? 1 : 0;
    GOBAN_CHECK(plan->period_at(period * plan->period_ns) == period);
  }
  GOBAN_CHECK(of_b == plan->pairs);
  GOBAN_CHECK(plan->period_at(plan->length_ns()) == plan->num_periods());
  return 0;
}
