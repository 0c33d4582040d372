// Element-wise reduction of byte buffers, in a fixed order of the sources.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "train/comm/communicator.hpp"

namespace goban::train::comm {

/// out[i] = sources[0][i] (+) sources[1][i] (+) ... in that order, for `count` elements. BF16 is
/// accumulated in fp32 and rounded to nearest even once. `out` must not be one of the sources.
void reduce_in_order(Element element, Reduction reduction,
                     const std::vector<const std::byte*>& sources, std::byte* out, size_t count);

/// Elements [first, last) that member `index` of `members` reduces. The parts cover all `count`
/// elements.
struct Part {
  size_t first = 0;
  size_t last = 0;
  [[nodiscard]] size_t size() const { return last - first; }
};
[[nodiscard]] inline Part part_of(size_t count, size_t members, size_t index) {
  return {count * index / members, count * (index + 1) / members};
}

}  // namespace goban::train::comm
