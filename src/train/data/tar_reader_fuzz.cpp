// Reads arbitrary bytes as a tar shard: names must be safe, and sizes those of the data.
#include "train/data/tar_reader.hpp"

#include "base/check.hpp"
#include "train/data/tar_headers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::train::data;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  goban::base::MemorySource source(bytes);
  (void)check_tar_headers(source, "fuzz.tar");
  const auto reader = read_tar(bytes, "fuzz.tar");
  if (!reader) return 0;
  int64_t before = -1;
  for (Sample sample; true;) {
    const auto more = (*reader)->next(sample);
    if (!more || !*more) break;
    GOBAN_CHECK(!sample.key.empty() && !sample.fields.empty() && sample.offset > before);
    GOBAN_CHECK(check_name(sample.key, "", 0).has_value());
    before = sample.offset;
  }
  return 0;
}
