// The header that ranks exchange before the data of a collective, and that a rank publishes to its
// watch.
#pragma once

#include <cstdint>

#include "train/comm/communicator.hpp"

namespace goban::train::comm {

struct CallHeader {
  uint8_t operation, element, reduction, unused;
  uint32_t what_size;
  int64_t bytes;
  uint64_t sequence;
  char what[88];
};

/// Keeps the end of a name that is too long: it distinguishes operations better than the start.
[[nodiscard]] CallHeader pack(const Call& call);
/// Accepts arbitrary bytes.
[[nodiscard]] Call unpack(const CallHeader& header);

}  // namespace goban::train::comm
