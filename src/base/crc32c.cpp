#include "base/crc32c.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace goban::base {
namespace {

constexpr uint32_t kReversed = 0x82f63b78;
constexpr size_t kSlices = 8;
using Slices = std::array<std::array<uint32_t, 256>, kSlices>;

constexpr Slices make_slices() {
  Slices out{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? (c >> 1) ^ kReversed : c >> 1;
    out[0][i] = c;
  }
  for (size_t s = 1; s < kSlices; ++s) {
    for (size_t i = 0; i < 256; ++i) {
      out[s][i] = (out[s - 1][i] >> 8) ^ out[0][out[s - 1][i] & 0xff];
    }
  }
  return out;
}

constexpr Slices kTable = make_slices();

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little);
  uint32_t c = ~uint32_t{0};
  while (bytes.size() >= kSlices) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    word ^= c;
    c = 0;
    for (size_t i = 0; i < kSlices; ++i) c ^= kTable[kSlices - 1 - i][(word >> (8 * i)) & 0xff];
    bytes.remove_prefix(kSlices);
  }
  for (const char each : bytes) c = (c >> 8) ^ kTable[0][(c ^ static_cast<uint8_t>(each)) & 0xff];
  return ~c;
}

uint32_t masked_crc32c(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8;
}

}  // namespace goban::base
