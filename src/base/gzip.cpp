#include "base/gzip.hpp"

#include <cstdint>
#include <zlib.h>

#include "base/check.hpp"

namespace goban::base {

std::string gzip(std::string_view bytes) {
  constexpr int kGzipWindow = 15 + 16;  // the largest window; 16 asks for a gzip header
  constexpr int kLevel = 6;
  constexpr int kMemLevel = 8;
  z_stream stream{};
  GOBAN_CHECK(deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindow, kMemLevel,
                           Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  GOBAN_CHECK(bytes.size() <= UINT32_MAX && packed.size() <= UINT32_MAX);
  // zlib does not write to its input; its C interface only lacks the const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  GOBAN_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t count = bytes.size() - at < 3 ? bytes.size() - at : 3;
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i) {
      group = group << 8 | (i < count ? static_cast<uint8_t>(bytes[at + i]) : 0U);
    }
    for (size_t i = 0; i < 4; ++i) {
      text += i <= count ? kDigits[group >> (18 - 6 * i) & 63U] : '=';
    }
  }
  return text;
}

}  // namespace goban::base
