// CRC-32C (Castagnoli, RFC 3720 B.4), the checksum of TFRecord files and of TensorBoard's event
// files.
#pragma once

#include <cstdint>
#include <string_view>

namespace goban::base {

[[nodiscard]] uint32_t crc32c(std::string_view bytes);

}  // namespace goban::base
