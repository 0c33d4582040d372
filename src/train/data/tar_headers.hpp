// What readers of tar shards pass over in silence, found in its headers.
#pragma once

#include <cstdint>
#include <string>

#include "base/byte_source.hpp"

namespace goban::train::data {

struct TarLinks {
  int64_t count = 0;  ///< hard and symbolic links, which are no samples
  std::string first;  ///< name of the first one
};

/// Reads the headers of an unpacked tar up to its end; of other contents nothing. `name` is for
/// messages. Errors: BadData with the offset, for names with NUL bytes, which libarchive (as C
/// does) cuts, for sizes that are no numbers, and for records of extended headers with wrong
/// lengths, both of which it takes for nothing, and for rests of members of another volume.
[[nodiscard]] base::Result<TarLinks> check_tar_headers(base::ByteSource& source,
                                                       const std::string& name);
/// Of a shard, packed or not; of one that is no tar nothing. Errors: also if it cannot be read.
[[nodiscard]] base::Result<TarLinks> check_tar_headers(const std::string& path);

}  // namespace goban::train::data
