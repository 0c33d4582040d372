// Any bytes as a table of EaCO: accepted rows give a history or an error with a message.
#include "core/knowledge/colocation/eaco_tables.hpp"

#include <cstdint>

#include "base/check.hpp"
#include "core/knowledge/colocation/colocation_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto rows = goban::core::knowledge::parse_eaco_table(text, "fuzz.csv");
  if (!rows) {
    GOBAN_CHECK(!rows.error().text().empty());
    return 0;
  }
  const auto history = goban::core::knowledge::eaco_history(*rows);
  if (!history) {
    GOBAN_CHECK(!history.error().text().empty());
    return 0;
  }
  const std::string written = goban::core::knowledge::to_csv(*history);
  GOBAN_CHECK(goban::core::knowledge::parse_colocation(written, "again.csv").has_value(), written);
  return 0;
}
