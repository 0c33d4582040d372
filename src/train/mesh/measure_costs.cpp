#include "train/mesh/measure_costs.hpp"

#include <ATen/ops/add.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <algorithm>
#include <array>
#include <c10/core/DeviceGuard.h>
#include <limits>
#include <span>

#include "base/clock.hpp"
#include "train/mesh/collective_tensor.hpp"
#include "train/mesh/device.hpp"

namespace goban::train::mesh {
namespace {

constexpr int kRepeats = 8;
constexpr int64_t kMatrix = 384;
constexpr int64_t kVector = 1 << 20;        // elements: larger than the caches of a core
constexpr int64_t kLargeMessage = 1 << 22;  // bytes

/// Minimum of some runs: other load on the machine can only add time.
template <typename Body>
double seconds_of(const Body& body) {
  body();  // warms up caches and creates communicators
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < kRepeats; ++i) {
    const double start_s = base::steady_s();
    body();
    best = std::min(best, base::steady_s() - start_s);
  }
  return best;
}

}  // namespace

base::Result<CostModel> measure_costs(comm::Communicator& end, c10::Device device) {
  const comm::Group all = comm::whole_world(end.size());
  base::Status failure;
  const c10::OptionalDeviceGuard guard(device);
  const at::TensorOptions options = at::TensorOptions().dtype(at::kFloat).device(device);
  const auto reduce_seconds = [&](int64_t bytes) {
    at::Tensor data = at::ones({bytes / int64_t{sizeof(float)}}, options);
    return seconds_of([&] {
      if (!failure) return;
      auto sum = all_reduced(data, all, comm::Reduction::Max, end, "measure");
      if (sum) {
        data = std::move(*sum);
      } else {
        failure = base::failure(sum.error());
      }
    });
  };
  const double small_s = reduce_seconds(4), large_s = reduce_seconds(kLargeMessage);
  const at::Tensor square = at::ones({kMatrix, kMatrix}, options),
                   vector = at::ones({kVector}, options);
  const double product_s = seconds_of([&] {
    (void)at::mm(square, square);
    finish_work(device);
  });
  const double addition_s = seconds_of([&] {
    (void)at::add(vector, vector);
    finish_work(device);
  });
  if (!failure) return base::failure(failure.error());
  const auto sent =
      static_cast<double>(comm::wire_bytes(comm::Operation::AllReduce, all.size(), kLargeMessage));
  std::array<double, 4> slowest = {small_s, sent > 0 ? std::max(0.0, large_s - small_s) / sent : 0,
                                   product_s, addition_s};
  failure = end.all_reduce(all, std::as_writable_bytes(std::span(slowest)), comm::Element::F64,
                           comm::Reduction::Max, "agree on costs");
  if (!failure) return base::failure(failure.error());
  const auto cube = static_cast<double>(kMatrix * kMatrix * kMatrix);
  return CostModel{slowest[0], slowest[1], 2 * cube / slowest[2],
                   static_cast<double>(kVector) * sizeof(float) / slowest[3]};
}

}  // namespace goban::train::mesh
