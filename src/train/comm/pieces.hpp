// Large buffers in pieces: MPI counts in int, so no message may have 2 GiB.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "base/result.hpp"

namespace goban::train::comm {

/// Calls `body(first, size)` for one piece of `total` bytes after the other, none of them larger
/// than `most` rounded down to whole elements of any type (8 bytes, at least one). Once, with size
/// 0, if there are none: every member takes part. Stops at the first failure.
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

/// Bytes [first, first + size) of each of the equal blocks of `whole`, one after the other.
inline void take_from_blocks(std::span<const std::byte> whole, size_t block, size_t first,
                             size_t size, std::byte* out) {
  for (size_t begin = first; begin < whole.size() && size > 0; begin += block, out += size) {
    std::memcpy(out, whole.data() + begin, size);
  }
}
/// The way back.
inline void put_into_blocks(const std::byte* in, size_t block, size_t first, size_t size,
                            std::span<std::byte> whole) {
  for (size_t begin = first; begin < whole.size() && size > 0; begin += block, in += size) {
    std::memcpy(whole.data() + begin, in, size);
  }
}

}  // namespace goban::train::comm
