// A call as it crosses the wire before its data, and as a rank shows it to its watch.
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

/// Of a long name the end is kept, which tells operations apart better than the start.
[[nodiscard]] CallHeader pack(const Call& call);
/// Of any bytes whatever.
[[nodiscard]] Call unpack(const CallHeader& header);

}  // namespace goban::train::comm
