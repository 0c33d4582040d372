#include "train/data/sha256.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <fstream>

namespace goban::train::data {
namespace {

/// First 32 bits of the fractional part of a root.
uint32_t fraction_bits(long double root) {
  return static_cast<uint32_t>((root - std::floor(root)) * 4294967296.0L);
}

struct Constants {
  std::array<uint32_t, 64> k{};
  std::array<uint32_t, 8> h{};
  Constants() {
    size_t found = 0;
    for (int n = 2; found < 64; ++n) {
      bool prime = true;
      for (int d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
      if (!prime) continue;
      if (found < 8) h[found] = fraction_bits(std::sqrt(static_cast<long double>(n)));
      k[found++] = fraction_bits(std::cbrt(static_cast<long double>(n)));
    }
  }
};

class Sha256 {
 public:
  Sha256() : state_(constants().h) {}

  void add(const char* bytes, size_t count) {
    total_ += count;
    while (count > 0) {
      const size_t take = std::min(count, block_.size() - filled_);
      std::memcpy(block_.data() + filled_, bytes, take);
      filled_ += take;
      bytes += take;
      count -= take;
      if (filled_ == block_.size()) compress();
    }
  }

  std::string finish() {
    const uint64_t bits = total_ * 8;
    const char one = static_cast<char>(0x80), zero = 0;
    add(&one, 1);
    while (filled_ != 56) add(&zero, 1);
    for (int shift = 56; shift >= 0; shift -= 8) {
      const char byte = static_cast<char>(bits >> shift);
      add(&byte, 1);
    }
    std::string out;
    for (const uint32_t word : state_) out += fmt::format("{:08x}", word);
    return out;
  }

 private:
  static const Constants& constants() {
    static const Constants table;
    return table;
  }

  void compress() {
    std::array<uint32_t, 64> w{};
    for (size_t i = 0; i < 16; ++i) {
      for (size_t j = 0; j < 4; ++j) w[i] = w[i] << 8 | block_[4 * i + j];
    }
    for (size_t i = 16; i < 64; ++i) {
      const uint32_t a = w[i - 15], b = w[i - 2];
      const uint32_t s0 = std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3);
      const uint32_t s1 = std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    std::array<uint32_t, 8> s = state_;
    for (size_t i = 0; i < 64; ++i) {
      const uint32_t s1 = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
      const uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
      const uint32_t t1 = s[7] + s1 + choice + constants().k[i] + w[i];
      const uint32_t s0 = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
      const uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
      s = {t1 + s0 + majority, s[0], s[1], s[2], s[3] + t1, s[4], s[5], s[6]};
    }
    for (size_t i = 0; i < 8; ++i) state_[i] += s[i];
    filled_ = 0;
  }

  std::array<uint32_t, 8> state_;
  std::array<uint8_t, 64> block_{};
  size_t filled_ = 0;
  uint64_t total_ = 0;
};

}  // namespace

std::string sha256(const std::string& bytes) {
  Sha256 hash;
  hash.add(bytes.data(), bytes.size());
  return hash.finish();
}

base::Result<std::string> sha256_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return base::failed(fmt::format("cannot read '{}'", path));
  Sha256 hash;
  std::string buffer(1 << 16, '\0');
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0) {
    hash.add(buffer.data(), static_cast<size_t>(in.gcount()));
  }
  return hash.finish();
}

}  // namespace goban::train::data
