// SHA-256 and HMAC-SHA-256 (FIPS 180-4, RFC 2104), for pseudonyms.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace goban::base {

using Sha256 = std::array<uint8_t, 32>;

[[nodiscard]] Sha256 sha256(std::string_view bytes);
[[nodiscard]] Sha256 hmac_sha256(std::string_view key, std::string_view bytes);
/// Lower-case hexadecimal digits.
[[nodiscard]] std::string hex(const Sha256& digest);

}  // namespace goban::base
