// Splitting of large buffers: MPI counts are int, so a message must stay below 2 GiB.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "base/result.hpp"

namespace goban::train::comm {

/// Calls `body(first, size)` for consecutive pieces of `total` bytes. A piece is at most `most`
/// bytes, rounded down to a multiple of 8 (whole elements of any type) and at least 8. If `total`
/// is 0, calls it once with size 0, because every member must take part. Stops at the first
/// failure.
template <typename Body>
[[nodiscard]] base::Status in_pieces(size_t total, size_t most, const Body& body) {
  constexpr size_t kUnit = 8;
  const size_t step = std::max(kUnit, most / kUnit * kUnit);
  size_t first = 0;
  do {
    const size_t size = std::min(step, total - first);
    if (base::Status done = body(first, size); !done) return done;
    first += size;
  } while (first < total);
  return {};
}

/// Copies bytes [first, first + size) of each of the equal blocks of `whole` to `out`, block after
/// block.
inline void take_from_blocks(std::span<const std::byte> whole, size_t block, size_t first,
                             size_t size, std::byte* out) {
  for (size_t begin = first; begin < whole.size() && size > 0; begin += block, out += size) {
    std::memcpy(out, whole.data() + begin, size);
  }
}
/// The inverse of take_from_blocks.
inline void put_into_blocks(const std::byte* in, size_t block, size_t first, size_t size,
                            std::span<std::byte> whole) {
  for (size_t begin = first; begin < whole.size() && size > 0; begin += block, in += size) {
    std::memcpy(whole.data() + begin, in, size);
  }
}

}  // namespace goban::train::comm
