// Expands arbitrary bytes as a list of shards.
#include "train/data/shard_list.hpp"

#include <cstdint>

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::train::data;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr size_t kLongest = 200;  // long lists of long names take time, not thought
  if (size > kLongest) return 0;
  const auto paths =
      expand_shards(text, [](const std::string&) -> std::optional<std::string> { return "v"; });
  if (paths) GOBAN_CHECK(!paths->empty());
  return 0;
}
