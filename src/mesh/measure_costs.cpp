#include <ATen/ops/add.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <span>

#include "mesh/planner.hpp"

namespace goban::mesh {
namespace {

constexpr int kRepeats = 8;
constexpr int64_t kMatrix = 384;
constexpr int64_t kVector = 1 << 20;       // elements: beyond the caches of a core
constexpr size_t kLargeMessage = 1 << 22;  // bytes

/// The quickest of some runs: what others do on the machine only ever adds.
template <typename Body>
double seconds_of(const Body& body) {
  body();  // warms caches and makes communicators
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < kRepeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count());
  }
  return best;
}

}  // namespace

base::Result<CostModel> measure_costs(comm::Communicator& end) {
  const comm::Group all = comm::whole_world(end.size());
  base::Status failure;
  const auto reduce_seconds = [&](size_t bytes) {
    std::vector<std::byte> data(bytes);
    return seconds_of([&] {
      if (!failure) return;
      failure = end.all_reduce(all, data, comm::Element::F32, comm::Reduction::Sum, "measure");
    });
  };
  const double small_s = reduce_seconds(4), large_s = reduce_seconds(kLargeMessage);
  const at::Tensor square = at::ones({kMatrix, kMatrix}), vector = at::ones({kVector});
  const double product_s = seconds_of([&] { (void)at::mm(square, square); });
  const double addition_s = seconds_of([&] { (void)at::add(vector, vector); });
  if (!failure) return base::failure(failure.error());
  const auto sent = static_cast<double>(comm::wire_bytes(comm::Operation::AllReduce, all.size(),
                                                         static_cast<int64_t>(kLargeMessage)));
  std::array<double, 4> slowest = {small_s, sent > 0 ? std::max(0.0, large_s - small_s) / sent : 0,
                                   product_s, addition_s};
  failure = end.all_reduce(all, std::as_writable_bytes(std::span(slowest)), comm::Element::F64,
                           comm::Reduction::Max, "agree on costs");
  if (!failure) return base::failure(failure.error());
  const auto cube = static_cast<double>(kMatrix * kMatrix * kMatrix);
  return CostModel{slowest[0], slowest[1], 2 * cube / slowest[2],
                   static_cast<double>(kVector) * sizeof(float) / slowest[3]};
}

}  // namespace goban::mesh
