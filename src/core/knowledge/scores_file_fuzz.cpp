// Any bytes as a score table: accepted input survives writing and reading.
#include "core/knowledge/scores_file.hpp"

#include <cstdint>

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto scores = goban::core::knowledge::parse_scores(text, "fuzz.csv", std::nullopt);
  if (!scores) {
    GOBAN_CHECK(!scores.error().text().empty());
    return 0;
  }
  const std::string written = goban::core::knowledge::to_csv(*scores);
  const auto again = goban::core::knowledge::parse_scores(written, "again.csv", scores->num_gpus());
  GOBAN_CHECK(again.has_value(), written);
  GOBAN_CHECK(goban::core::knowledge::to_csv(*again) == written, written);
  return 0;
}
