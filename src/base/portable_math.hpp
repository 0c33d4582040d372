// exp and log from operations that IEEE 754 rounds exactly, so that generated histories have the
// same bytes on every machine. Those of C libraries differ in the last bit between versions and
// processors. Accurate to a few units in the last place.
#pragma once

namespace goban::base {

/// Natural logarithm; x > 0, finite and not subnormal.
[[nodiscard]] double portable_log(double x);
/// e to the x; |x| <= 700.
[[nodiscard]] double portable_exp(double x);

}  // namespace goban::base
