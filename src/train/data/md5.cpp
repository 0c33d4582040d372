#include "train/data/md5.hpp"

#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fstream>

namespace goban::train::data {
namespace {

constexpr size_t kBlockBytes = 64;

const std::array<uint32_t, 64>& sines() {
  static const auto table = [] {
    std::array<uint32_t, 64> out{};
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<uint32_t>(
          std::floor(std::abs(std::sin(static_cast<double>(i) + 1)) * 4294967296.0));
    }
    return out;
  }();
  return table;
}

class Md5 {
 public:
  void add(std::string_view bytes) {
    total_ += bytes.size();
    rest_ += bytes;
    size_t at = 0;
    for (; at + kBlockBytes <= rest_.size(); at += kBlockBytes) block(rest_.data() + at);
    rest_.erase(0, at);
  }
  std::string digest() {
    const uint64_t bits = total_ * 8;
    std::string end = "\x80";
    while ((rest_.size() + end.size()) % kBlockBytes != kBlockBytes - sizeof bits) end += '\0';
    end.append(reinterpret_cast<const char*>(&bits), sizeof bits);
    add(end);
    std::string out;
    for (const uint32_t word : state_) {
      for (unsigned shift = 0; shift < 32; shift += 8) {
        out += fmt::format("{:02x}", (word >> shift) & 0xff);
      }
    }
    return out;
  }

 private:
  void block(const char* bytes) {
    static_assert(std::endian::native == std::endian::little);
    constexpr std::array<std::array<int, 4>, 4> kTurns = {
        {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};
    std::array<uint32_t, 16> words{};
    std::memcpy(words.data(), bytes, kBlockBytes);
    auto [a, b, c, d] = state_;
    for (size_t i = 0; i < 64; ++i) {
      uint32_t f = 0;
      size_t g = 0;
      switch (i / 16) {
        case 0:
          f = (b & c) | (~b & d);
          g = i;
          break;
        case 1:
          f = (d & b) | (~d & c);
          g = 5 * i + 1;
          break;
        case 2:
          f = b ^ c ^ d;
          g = 3 * i + 5;
          break;
        default:
          f = c ^ (b | ~d);
          g = 7 * i;
      }
      const uint32_t turned = std::rotl(a + f + sines()[i] + words[g % 16], kTurns[i / 16][i % 4]);
      a = d;
      d = c;
      c = b;
      b += turned;
    }
    state_[0] += a;
    state_[1] += b;
    state_[2] += c;
    state_[3] += d;
  }
  std::array<uint32_t, 4> state_ = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  std::string rest_;
  uint64_t total_ = 0;
};

}  // namespace

std::string md5(std::string_view bytes) {
  Md5 sum;
  sum.add(bytes);
  return sum.digest();
}

base::Result<std::string> md5_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return base::failed(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  Md5 sum;
  std::string chunk(size_t{1} << 20, '\0');
  while (in) {
    in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    sum.add(std::string_view(chunk).substr(0, static_cast<size_t>(in.gcount())));
  }
  if (in.bad()) return base::failed(fmt::format("cannot read '{}'", path));
  return sum.digest();
}

}  // namespace goban::train::data
