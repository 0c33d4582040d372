#include "train/data/token_file.hpp"

#include <bit>
#include <cstring>
#include <fmt/format.h>

#include "base/byte_source.hpp"

namespace goban::train::data {

base::Result<std::vector<int64_t>> read_tokens(const std::string& path, int token_bytes,
                                               int64_t vocabulary) {
  static_assert(std::endian::native == std::endian::little);
  const auto source = base::open_plain(path);
  if (!source) return base::failure(source.error());
  const auto width = static_cast<size_t>(token_bytes);
  std::vector<int64_t> out;
  std::string chunk(size_t{1} << 20, '\0');
  size_t rest = 0;
  while (true) {
    const auto count = (*source)->read(chunk.data() + rest, chunk.size() - rest);
    if (!count) return base::failure(count.error());
    if (*count == 0) break;
    const size_t have = rest + *count;
    size_t at = 0;
    for (; at + width <= have; at += width) {
      uint32_t token = 0;
      std::memcpy(&token, chunk.data() + at, width);
      if (token >= vocabulary) {
        return base::bad_data({path, 0, 0, ""},
                              fmt::format("token {} (at byte {}) is {}; the vocabulary has {}",
                                          out.size(), out.size() * width, token, vocabulary),
                              "use a larger --vocab, or the right --token-bytes");
      }
      out.push_back(token);
    }
    rest = have - at;
    std::memmove(chunk.data(), chunk.data() + at, rest);
  }
  if (rest != 0) {
    return base::bad_data({path, 0, 0, ""},
                          fmt::format("ends inside a token of {} bytes", token_bytes),
                          "the file is truncated, or --token-bytes is wrong");
  }
  return out;
}

}  // namespace goban::train::data
