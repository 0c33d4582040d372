// Any bytes as throughputs of Gavel: accepted input gives a history that can be written.
#include "core/knowledge/colocation/gavel_throughputs.hpp"

#include <cstdint>

#include "base/check.hpp"
#include "core/knowledge/colocation/colocation_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto import = goban::core::knowledge::parse_gavel_throughputs(text, "fuzz.json");
  if (!import) {
    GOBAN_CHECK(!import.error().text().empty());
    return 0;
  }
  const std::string written = goban::core::knowledge::to_csv(import->history);
  const auto again = goban::core::knowledge::parse_colocation(written, "again.csv");
  GOBAN_CHECK(again.has_value(), written);
  GOBAN_CHECK(again->sets().size() == import->history.sets().size(), written);
  return 0;
}
