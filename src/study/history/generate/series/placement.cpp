#include "study/history/generate/series/placement.hpp"

#include <algorithm>
#include <bit>

#include "base/check.hpp"

namespace goban::study::history {
namespace {
constexpr uint8_t kFull = 0xf;
}

Placement::Placement(int32_t nodes) : busy_(static_cast<size_t>(nodes), 0), num_empty_(nodes) {
  for (int32_t node = nodes - 1; node >= 0; --node) empty_.push_back(node);
}

void Placement::release_until(int64_t time_s) {
  while (!releases_.empty() && releases_.top().at_s <= time_s) {
    const Release release = releases_.top();
    releases_.pop();
    uint8_t& busy = busy_[static_cast<size_t>(release.node)];
    busy = static_cast<uint8_t>(busy & ~release.mask);
    if (busy == 0) {
      ++num_empty_;
      empty_.push_back(release.node);
    } else {
      begun_.push_back(release.node);
    }
  }
}

bool Placement::has_room(int32_t nodes) {
  if (nodes > 0) return num_empty_ >= nodes;
  const auto usable = [this](int32_t node) {
    const uint8_t busy = busy_[static_cast<size_t>(node)];
    return busy != 0 && busy != kFull;
  };
  while (!begun_.empty() && !usable(begun_.back())) begun_.pop_back();
  return !begun_.empty() || num_empty_ > 0;
}

int32_t Placement::take_node() {
  while (busy_[static_cast<size_t>(empty_.back())] != 0) empty_.pop_back();
  const int32_t node = empty_.back();
  empty_.pop_back();
  --num_empty_;
  return node;
}

PlacedGpu Placement::take_one() {
  int32_t node = 0;
  if (begun_.empty()) {
    node = take_node();
    begun_.push_back(node);
  } else {
    node = begun_.back();
  }
  uint8_t& busy = busy_[static_cast<size_t>(node)];
  const int gpu = std::countr_one(busy);
  busy = static_cast<uint8_t>(busy | (1U << gpu));
  return {node, gpu};
}

Placement::Start Placement::start(int64_t submit_s, int64_t duration_s, int32_t nodes) {
  GOBAN_CHECK(nodes <= static_cast<int32_t>(busy_.size()));
  now_s_ = std::max(now_s_, submit_s);
  release_until(now_s_);
  while (!has_room(nodes)) {
    now_s_ = releases_.top().at_s;
    release_until(now_s_);
  }
  Start start;
  start.start_s = now_s_;
  // One second between jobs, so that no sample belongs to two.
  const int64_t free_s = now_s_ + duration_s + 1;
  if (nodes == 0) {
    const PlacedGpu gpu = take_one();
    releases_.push({free_s, gpu.node, static_cast<uint8_t>(1U << gpu.gpu)});
    start.gpus.push_back(gpu);
  }
  for (int32_t i = 0; i < nodes; ++i) {
    const int32_t node = take_node();
    busy_[static_cast<size_t>(node)] = kFull;
    releases_.push({free_s, node, kFull});
    for (int32_t gpu = 0; gpu < kGpusPerNode; ++gpu) start.gpus.push_back({node, gpu});
  }
  return start;
}

}  // namespace goban::study::history
