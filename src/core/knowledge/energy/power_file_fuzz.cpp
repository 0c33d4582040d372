// Any bytes as a power model: accepted input survives writing and reading.
#include "core/knowledge/energy/power_file.hpp"

#include <cstdint>

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto catalog = goban::core::knowledge::parse_power(text, "fuzz.toml");
  if (!catalog) {
    GOBAN_CHECK(!catalog.error().text().empty());
    return 0;
  }
  const std::string written = goban::core::knowledge::to_toml(*catalog);
  const auto again = goban::core::knowledge::parse_power(written, "again.toml");
  GOBAN_CHECK(again.has_value(), written);
  GOBAN_CHECK(goban::core::knowledge::to_toml(*again) == written, written);
  return 0;
}
