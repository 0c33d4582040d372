#include "train/trainer/memory_policy.hpp"

#include <limits>
#include <malloc.h>

namespace goban::train::trainer {

void keep_memory() {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, 64 << 20);
}

}  // namespace goban::train::trainer
