// Any bytes are rejected with a place, or give outages of which those of a node do not touch.
#include "study/history/spot_supply.hpp"

#include <cstdint>

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto supply = goban::study::history::parse_spot_supply(text, "fuzz.json");
  if (!supply) {
    GOBAN_CHECK(!supply.error().message.empty() && supply.error().place.file == "fuzz.json");
    return 0;
  }
  GOBAN_CHECK(!supply->instances.empty() && supply->most() >= 0);
  const goban::study::history::SpotGroup group{.supply = std::move(*supply), .nodes = {1, 4}};
  goban::study::history::NodeOutages outages;
  GOBAN_CHECK(goban::study::history::add_outages(group, 0, outages).has_value());
  for (const auto& [node, of_node] : outages) {
    goban::base::TimeNs up_ns = -1;
    for (const auto& outage : of_node) {
      GOBAN_CHECK(outage.begin_ns > up_ns && outage.end_ns >= outage.begin_ns);
      up_ns = outage.end_ns;
    }
  }
  return 0;
}
