// SHA-256 and HMAC-SHA-256 (FIPS 180-4, RFC 2104), for pseudonyms, tokens and the verification of
// files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace goban::base {

using Sha256 = std::array<uint8_t, 32>;

[[nodiscard]] Sha256 sha256(std::string_view bytes);
[[nodiscard]] Sha256 hmac_sha256(std::string_view key, std::string_view bytes);
/// Lower-case hexadecimal digits.
[[nodiscard]] std::string hex(const Sha256& digest);

/// Digest of bytes that arrive in pieces.
class Sha256Stream {
 public:
  void add(std::string_view bytes);
  /// The digest of everything added. Ends the stream.
  [[nodiscard]] Sha256 digest();

 private:
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> block_{};  ///< the incomplete block
  size_t filled_ = 0;
  uint64_t total_ = 0;
};

}  // namespace goban::base
