// How a shift of a split dimension moves data between devices: whole blocks, and a part of one
// more.
#pragma once

#include <cstdint>
#include <vector>

namespace goban::train::mesh {

struct ShiftPart {
  int64_t blocks;  ///< number of devices to move by
  int64_t from;    ///< first element of the part in the sender's block
  int64_t size;
};

/// The parts of a shift by `offset` of blocks of `block` elements, in the order in which the
/// receiver concatenates them.
[[nodiscard]] inline std::vector<ShiftPart> shift_parts(int64_t offset, int64_t block) {
  int64_t quotient = offset / block, rest = offset % block;
  if (rest < 0) {
    rest += block;
    --quotient;
  }
  std::vector<ShiftPart> parts;
  if (rest > 0) parts.push_back({quotient + 1, block - rest, rest});
  parts.push_back({quotient, 0, block - rest});
  return parts;
}

/// The coordinate `blocks` devices further, or -1 beyond the ends.
[[nodiscard]] inline int64_t peer_at(int64_t coordinate, int64_t blocks, int64_t parts, bool wrap) {
  const int64_t peer = coordinate + blocks;
  if (wrap) return ((peer % parts) + parts) % parts;
  return peer >= 0 && peer < parts ? peer : -1;
}

/// The contribution of the device at this distance, on either side.
struct HaloPart {
  int64_t devices;
  int64_t size;  ///< number of elements; those nearest to the receiver
};

/// The parts of a margin of `margin` elements around blocks of `block`, from up to `parts` - 1
/// devices, nearest first. Elements further away are outside and are zero.
[[nodiscard]] inline std::vector<HaloPart> halo_parts(int64_t block, int64_t margin,
                                                      int64_t parts) {
  std::vector<HaloPart> out;
  for (int64_t devices = 1; devices < parts && margin > 0; ++devices, margin -= block) {
    out.push_back({devices, margin < block ? margin : block});
  }
  return out;
}

}  // namespace goban::train::mesh
