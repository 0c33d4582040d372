// Reads arbitrary bytes as a wids index; what was read must read back equal.
#include "train/data/shard_set.hpp"

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::train::data;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto set = from_wids(text, "/folder", "fuzz.json");
  if (!set) return 0;
  const auto again = from_wids(to_wids(*set, "/folder"), "/folder", "again.json");
  GOBAN_CHECK(again.has_value());
  GOBAN_CHECK(again->samples() == set->samples() && again->shards.size() == set->shards.size());
  return 0;
}
