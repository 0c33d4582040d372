// CRC-32C (Castagnoli, RFC 3720 B.4), the checksum of TFRecord files and of TensorBoard's event
// files.
#pragma once

#include <cstdint>
#include <string_view>

namespace goban::base {

[[nodiscard]] uint32_t crc32c(std::string_view bytes);
/// The checksum in the form in which both files store it.
[[nodiscard]] uint32_t masked_crc32c(std::string_view bytes);

}  // namespace goban::base
