#include "train/data/shuffle_order.hpp"

#include <algorithm>
#include <utility>

namespace goban::train::data {

ShuffleOrder::ShuffleOrder(int64_t n, int64_t buffer, uint64_t seed)
    : n_(n), buffer_(std::max<int64_t>(buffer, 1)), random_(seed) {}

int64_t ShuffleOrder::next() {
  while (taken_ < n_ && static_cast<int64_t>(waiting_.size()) < buffer_) {
    waiting_.push_back(taken_++);
  }
  const size_t chosen = waiting_.size() == 1 ? 0 : random_.below(waiting_.size());
  std::swap(waiting_[chosen], waiting_.back());
  const int64_t out = waiting_.back();
  waiting_.pop_back();
  return out;
}

}  // namespace goban::train::data
