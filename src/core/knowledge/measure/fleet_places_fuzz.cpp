// Arbitrary bytes as the places of GPUs: rejected, or unchanged when they are written and read
// again.
#include "base/check.hpp"
#include "core/knowledge/measure/fleet_book.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::core::knowledge;
  const auto places = parse_places({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!places) return 0;
  const auto again = parse_places(to_json(*places), "fuzz");
  GOBAN_CHECK(again && again->size() <= places->size());
  return 0;
}
