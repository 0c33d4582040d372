// Any bytes as a co-location history: accepted input survives writing and reading.
#include "core/knowledge/colocation/colocation_file.hpp"

#include <cstdint>

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto history = goban::core::knowledge::parse_colocation(text, "fuzz.csv");
  if (!history) {
    GOBAN_CHECK(!history.error().text().empty());
    return 0;
  }
  const std::string written = goban::core::knowledge::to_csv(*history);
  const auto again = goban::core::knowledge::parse_colocation(written, "again.csv");
  GOBAN_CHECK(again.has_value(), written);
  GOBAN_CHECK(goban::core::knowledge::to_csv(*again) == written, written);
  return 0;
}
