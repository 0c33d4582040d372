// Reads arbitrary bytes as an event file: as they are, and as one record with right checksums.
#include "base/event_file.hpp"

#include <cstring>
#include <string>

#include "base/check.hpp"
#include "base/crc32c.hpp"

namespace {

void read(const std::string& bytes) {
  using namespace goban::base;
  const ReadAt read_at = [&](int64_t offset, std::span<char> out) {
    GOBAN_CHECK(offset >= 0);
    if (static_cast<uint64_t>(offset) >= bytes.size()) return size_t{0};
    return bytes.copy(out.data(), out.size(), static_cast<size_t>(offset));
  };
  int64_t scalars = 0;
  const EventFilePart part = read_scalars(read_at, [&](std::string_view tag, const Scalar&) {
    GOBAN_CHECK(!tag.empty());
    ++scalars;
  });
  GOBAN_CHECK(scalars <= static_cast<int64_t>(bytes.size()));
  GOBAN_CHECK(part.records <= static_cast<int64_t>(bytes.size()));
}

std::string sum(const std::string& bytes) {
  const uint32_t crc = goban::base::crc32c(bytes);
  const uint32_t masked = ((crc >> 15) | (crc << 17)) + 0xa282ead8;
  return {reinterpret_cast<const char*>(&masked), sizeof masked};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  const uint64_t length = size;
  const std::string head(reinterpret_cast<const char*>(&length), sizeof length);
  read(head + sum(head) + bytes + sum(bytes));
  return 0;
}
