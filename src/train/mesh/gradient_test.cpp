#include "train/mesh/gradient.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/sin.h>
#include <gtest/gtest.h>

#include "train/comm/thread_world.hpp"
#include "train/mesh/kernels.hpp"
#include "train/mesh/test_layouts.hpp"

namespace goban::train::mesh {
namespace {

/// Inputs at which no case is near a kink: (-1, 1) without the neighbourhoods of 0 and of ties.
constexpr double kStep = 1e-5;

std::vector<at::Tensor> run_unsplit(const Builder& build, const Feeds& feeds) {
  comm::ThreadWorld world(1, {});
  Graph graph;
  const std::vector<Tensor> fetches = build(graph);
  Variables variables(graph, {}, {}, world.communicator(0));
  auto program = Program::create(variables, {fetches, false, 1});
  EXPECT_TRUE(program) << program.error().text();
  auto values = (*program)->run({feeds}, 0);
  EXPECT_TRUE(values) << values.error().text();
  return *values;
}

/// The loss as with_gradients computes it from y.
double loss_of(const at::Tensor& y, const Shape& shape) {
  std::vector<int64_t> sizes, begin(shape.rank(), 0);
  for (const Dim& dim : shape.dims()) sizes.push_back(dim.size);
  const at::Tensor weights =
      random_slice(Distribution::Uniform, mix_seed(7, "0"), shape, begin, sizes);
  return y.mul(weights.to(at::kDouble)).sum().item<double>();
}

TEST(Gradient, OfEveryOperationIsTheSlopeOfItsLoss) {
  size_t checked = 0;
  for (const auto& [name, build] : operation_cases(DType::F64)) {
    Graph graph;
    const std::vector<Tensor> fetches = build(graph);
    if (fetches.size() == 1) continue;  // selection or random numbers: no gradient
    // Step functions, comparisons and stop_gradient have no slope to measure.
    if (name.starts_with("while") || name == "stop_gradient" || name == "sign" ||
        name.starts_with("less") || name.starts_with("equal")) {
      continue;
    }
    const Feeds feeds = make_feeds(graph, 3);
    const std::vector<at::Tensor> values = run_unsplit(build, feeds);
    size_t which = 0;
    for (const auto& [input, at_point] : feeds) {
      if (!at_point.is_floating_point()) continue;
      // Inputs are called w..z in the order of with_gradients' arguments, except for the case
      // "recompute".
      const size_t place = name == "recompute" ? 1 - which : which;
      ++which;
      const at::Tensor direction =
          at::sin(at::arange(at_point.numel(), at::kDouble).mul(1.7)).view(at_point.sizes());
      const auto moved = [&](double by) {
        Feeds there = feeds;
        there[input] = at_point.add(direction, by);
        return loss_of(run_unsplit(build, there)[0], fetches[0].shape());
      };
      const double slope = (moved(kStep) - moved(-kStep)) / (2 * kStep);
      const double predicted = values[1 + place].mul(direction).sum().item<double>();
      EXPECT_NEAR(predicted, slope, 1e-6 * (1 + std::abs(slope))) << name << " for " << input;
      ++checked;
    }
  }
  EXPECT_GT(checked, 80U);
}

}  // namespace
}  // namespace goban::train::mesh
