// Any notes of an earlier copy give files and chunks, or are left out.
#include "live/staging/copy_notes.hpp"

#include <cstdint>

#include "base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::live::staging;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& [path, file] : parse_copied_files(text)) {
    GOBAN_CHECK(file.bytes >= 0 && file.sha256.size() == 64);
    GOBAN_CHECK(path.find('\n') == std::string::npos);
  }
  const CopiedPart part = parse_copied_part(text);
  GOBAN_CHECK(part.chunk_bytes >= 0 && part.bytes >= 0);
  GOBAN_CHECK(part.chunk_bytes > 0 || part.chunks.empty());
  return 0;
}
