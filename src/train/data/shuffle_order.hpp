// The order in which a buffer of limited size gives out a sequence: numbers only, so that a run
// resumes without reading what it has passed.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"

namespace goban::train::data {

/// Numbers 0 .. n-1, of which at most `buffer` wait at a time; each output is a uniform choice of
/// those that wait. A buffer of 0 or 1 keeps the order.
class ShuffleOrder {
 public:
  ShuffleOrder(int64_t n, int64_t buffer, uint64_t seed);
  [[nodiscard]] bool at_end() const { return waiting_.empty() && taken_ == n_; }
  /// Not at the end.
  [[nodiscard]] int64_t next();
  /// Numbers that were taken in and not yet given out.
  [[nodiscard]] const std::vector<int64_t>& waiting() const { return waiting_; }
  /// Numbers below this were taken in.
  [[nodiscard]] int64_t taken() const { return taken_; }

 private:
  int64_t n_, buffer_, taken_ = 0;
  base::Random random_;
  std::vector<int64_t> waiting_;
};

}  // namespace goban::train::data
