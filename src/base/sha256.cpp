#include "base/sha256.hpp"

#include <algorithm>
#include <bit>

namespace goban::base {
namespace {

constexpr size_t kBlock = 64;  // bytes
constexpr std::array<uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void take_block(const uint8_t* bytes, std::array<uint32_t, 8>& state) {
  std::array<uint32_t, 64> w{};
  for (size_t i = 0; i < 16; ++i) {
    w[i] = uint32_t{bytes[4 * i]} << 24 | uint32_t{bytes[4 * i + 1]} << 16 |
           uint32_t{bytes[4 * i + 2]} << 8 | uint32_t{bytes[4 * i + 3]};
  }
  for (size_t i = 16; i < w.size(); ++i) {
    const uint32_t a = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
    const uint32_t b = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + a + w[i - 7] + b;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < w.size(); ++i) {
    const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<uint32_t, 8> add = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state.size(); ++i) state[i] += add[i];
}

}  // namespace

void Sha256Stream::add(std::string_view bytes) {
  total_ += bytes.size();
  const auto fill = [&] {
    const size_t count = std::min(bytes.size(), block_.size() - filled_);
    std::ranges::copy(bytes.substr(0, count), block_.begin() + static_cast<ptrdiff_t>(filled_));
    filled_ += count;
    bytes.remove_prefix(count);
  };
  if (filled_ > 0) fill();
  if (filled_ == block_.size()) {
    take_block(block_.data(), state_);
    filled_ = 0;
  }
  for (; bytes.size() >= block_.size(); bytes.remove_prefix(block_.size())) {
    take_block(reinterpret_cast<const uint8_t*>(bytes.data()), state_);
  }
  fill();
}

Sha256 Sha256Stream::digest() {
  constexpr size_t kLengthBytes = 8;
  const uint64_t bits = total_ * 8;
  std::string end(1, static_cast<char>(0x80));
  while ((total_ + end.size() + kLengthBytes) % block_.size() != 0) end += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) end += static_cast<char>(bits >> shift & 0xff);
  add(end);
  Sha256 out{};
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)) & 0xff);
  }
  return out;
}

Sha256 sha256(std::string_view bytes) {
  Sha256Stream stream;
  stream.add(bytes);
  return stream.digest();
}

Sha256 hmac_sha256(std::string_view key, std::string_view bytes) {
  const auto text_of = [](const Sha256& digest) {
    return std::string(digest.begin(), digest.end());
  };
  std::string block = key.size() > kBlock ? text_of(sha256(key)) : std::string(key);
  block.resize(kBlock, '\0');
  const auto keyed = [&block](char pad, std::string_view text) {
    std::string padded = block;
    for (char& c : padded) c = static_cast<char>(c ^ pad);
    Sha256Stream stream;
    stream.add(padded);
    stream.add(text);
    return stream.digest();
  };
  return keyed(0x5c, text_of(keyed(0x36, bytes)));
}

std::string hex(const Sha256& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const uint8_t byte : digest) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

}  // namespace goban::base
