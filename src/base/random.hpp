// Seeded random numbers that are identical on every machine and library: SplitMix64.
// (std:: distributions differ between standard libraries; history/ uses Boost's samplers on this.)
#pragma once

#include <cstdint>
#include <limits>

namespace goban::base {

/// A small, fast, seedable generator (Steele, Lea, Flood 2014); models UniformRandomBitGenerator.
class Random {
 public:
  using result_type = uint64_t;
  explicit Random(uint64_t seed) : state_(seed) {}

  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return std::numeric_limits<uint64_t>::max(); }

  uint64_t operator()() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  /// Uniform in [0, bound), without modulo bias. bound > 0.
  uint64_t below(uint64_t bound) {
    const uint64_t reject = (0 - bound) % bound;
    uint64_t draw = (*this)();
    while (draw < reject) draw = (*this)();
    return draw % bound;
  }

  /// Uniform in [0, 1) with 53 bits.
  double uniform() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

 private:
  uint64_t state_;
};

}  // namespace goban::base
