// Any bytes as a measurement log: accepted input survives writing and reading.
#include "core/knowledge/measure/measure_book.hpp"

#include <cstdint>

#include "base/check.hpp"
#include "core/knowledge/measure/findings.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::core::knowledge;
  const auto book = parse_book({reinterpret_cast<const char*>(data), size}, "fuzz.json");
  if (!book) {
    GOBAN_CHECK(!book.error().text().empty());
    return 0;
  }
  const std::string written = to_json(*book);
  const auto again = parse_book(written, "again.json");
  GOBAN_CHECK(again.has_value(), written);
  GOBAN_CHECK(to_json(*again) == written, written);
  std::vector<GpuNow> now;
  for (const GpuBook& gpu : book->gpus) {
    now.push_back(
        {gpu.uuid, gpu.sessions.empty() ? GpuCondition{} : gpu.sessions.back().condition});
  }
  const MachineScores scores = scores_of(*book, now);
  GOBAN_CHECK(scores.gpus.size() == now.size());
  return 0;
}
