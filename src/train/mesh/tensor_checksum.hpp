// Checksum of a tensor's values, on any device.
#pragma once

#include <ATen/core/Tensor.h>

#include "base/file_checksum.hpp"

namespace goban::train::mesh {

/// CRC-32 of the values in row-major order.
[[nodiscard]] inline uint32_t checksum_of(const at::Tensor& x) {
  const at::Tensor host = x.cpu().contiguous();
  return base::crc32_of({static_cast<const char*>(host.data_ptr()), host.nbytes()});
}

}  // namespace goban::train::mesh
