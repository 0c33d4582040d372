// Reads arbitrary bytes as a time table; what was read must read back equal.
#include "base/reports/time_table.hpp"

#include <cstdint>

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::base::reports;
  const auto table = parse_time_table({reinterpret_cast<const char*>(data), size}, "fuzz.json");
  if (!table) return 0;
  const auto again = parse_time_table(to_json(*table), "again.json");
  GOBAN_CHECK(again.has_value() && to_json(*again) == to_json(*table));
  GOBAN_CHECK(!to_text(*table).empty() && !to_html(*table, "fuzz").empty());
  return 0;
}
