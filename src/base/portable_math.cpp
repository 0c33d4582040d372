#include "base/portable_math.hpp"

#include <cmath>
#include <limits>

namespace goban::base {
namespace {

// ln 2 in two parts: the first ends in zero bits, so that multiples up to 2^11 are exact.
constexpr double kLn2High = 0x1.62e42fefa3800p-1;
constexpr double kLn2Low = 0x1.ef35793c76730p-45;

}  // namespace

double portable_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // in [1/2, 1)
  constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;
  if (mantissa < kSqrtHalf) {
    mantissa *= 2;
    --exponent;
  }
  // ln m = 2 artanh s with s = (m - 1) / (m + 1), |s| < 0.172.
  const double s = (mantissa - 1) / (mantissa + 1);
  const double square = s * s;
  double series = 0;
  for (int k = 25; k >= 3; k -= 2) series = (series + 1.0 / k) * square;
  return exponent * kLn2High + (2 * s + (2 * s * series + exponent * kLn2Low));
}

double portable_exp(double x) {
  // Beyond these limits the result is infinite, or zero.
  constexpr double kMax = 710;
  constexpr double kMin = -746;
  if (std::isnan(x)) return x;
  if (x > kMax) return std::numeric_limits<double>::infinity();
  if (x < kMin) return 0;
  const double exponent = std::floor(x * 0x1.71547652b82fep+0 + 0.5);  // nearest multiple of ln 2
  const double rest = (x - exponent * kLn2High) - exponent * kLn2Low;
  double series = 1;
  for (int k = 15; k >= 1; --k) series = 1 + series * rest / k;
  return std::ldexp(series, static_cast<int>(exponent));
}

}  // namespace goban::base
