// Parses arbitrary bytes as rules of an analysis: rejected with a position, or valid rules.
#include "site/analysis/rules_file.hpp"

#include <algorithm>
#include <cstdint>

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto rules =
      goban::site::analysis::parse_rules({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  if (!rules) {
    GOBAN_CHECK(!rules.error().message.empty() && rules.error().place.file == "fuzz.toml");
    return 0;
  }
  GOBAN_CHECK(std::ranges::is_sorted(rules->node_bins));
  GOBAN_CHECK(rules->use.busy_at_pct >= 0 && rules->use.busy_at_pct <= 100);
  GOBAN_CHECK(rules->run_min_ns >= 0 && !rules->what_if.uplink_ratios.empty());
  GOBAN_CHECK(rules->period.to_ns < 0 || rules->period.to_ns > rules->period.from_ns);
  return 0;
}
