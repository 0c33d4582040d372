#include <gtest/gtest.h>

#include "base/random.hpp"
#include "mesh/layout_cases.hpp"

namespace goban::mesh {
namespace {

const std::vector<Dim> kDims = {{"a", 4}, {"b", 4}, {"c", 8}, {"d", 4}};

/// A random graph of operations over four dimensions, the same for a seed.
std::vector<Tensor> random_graph(Graph& g, uint64_t seed) {
  base::Random random(seed);
  const auto some_shape = [&] {
    std::vector<Dim> dims;
    for (const Dim& dim : kDims) {
      if (random.below(2) == 0) dims.push_back(dim);
    }
    if (dims.empty()) dims.push_back(kDims[random.below(kDims.size())]);
    if (dims.size() > 1 && random.below(2) == 0) std::swap(dims.front(), dims.back());
    return Shape(dims);
  };
  std::vector<Tensor> inputs, values;
  for (int i = 0; i < 3; ++i) inputs.push_back(g.input("x" + std::to_string(i), some_shape()));
  values = inputs;
  const auto pick = [&] { return values[random.below(values.size())]; };
  for (int i = 0; i < 8; ++i) {
    const Tensor x = pick(), y = pick();
    const Dim along = x.shape().rank() == 0 ? Dim{} : x.shape()[random.below(x.shape().rank())];
    switch (random.below(9)) {
      case 0:
        values.push_back(x + y);
        break;
      case 1:
        values.push_back(x * y);
        break;
      case 2:
        values.push_back(tanh(x));
        break;
      case 3:
        values.push_back(tanh(einsum({x, y}, some_shape()) * 0.1));
        break;
      case 4:
        values.push_back(einsum({x, y}, some_shape()) * 0.1);
        break;
      case 5:
        values.push_back(reduce_mean(x, x.shape().without({along.name})));
        break;
      case 6:
        if (x.shape().rank() > 0) values.push_back(shift(x, along.name, 1, random.below(2) == 0));
        break;
      case 7:
        if (x.shape().rank() > 0) values.push_back(cumsum(x, along.name) * 0.25);
        break;
      case 8: {
        // Names change places: a reshape that moves the layout.
        std::vector<Dim> dims = x.shape().dims();
        for (size_t d = 0; d + 1 < dims.size(); ++d) {
          if (dims[d].size == dims[d + 1].size) std::swap(dims[d], dims[d + 1]);
        }
        values.push_back(reshape(x, Shape(dims)));
        break;
      }
    }
  }
  Tensor sum = values.back();
  for (size_t i = values.size() - 3; i + 1 < values.size(); ++i) sum = sum + values[i];
  return with_gradients(sum, inputs);
}

TEST(RandomGraphs, EveryLegalLayoutGivesTheUnsplitResultAndGradients) {
  size_t split_runs = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Builder build = [seed](Graph& g) { return random_graph(g, seed); };
    const auto whole = run_on_threads(build, {"", ""});
    ASSERT_TRUE(whole) << "seed " << seed << ": " << whole.error().text();
    for (const char* mesh : {"x:2", "x:4", "x:2;y:2"}) {
      for (const LayoutCase& layout : legal_layouts(build, mesh)) {
        const auto split = run_on_threads(build, layout);
        ASSERT_TRUE(split) << "seed " << seed << ", " << mesh << " \"" << layout.layout
                           << "\": " << split.error().text();
        EXPECT_EQ(difference(*split, *whole, 1e-4), "")
            << "seed " << seed << ", " << mesh << " \"" << layout.layout << '"';
        split_runs += layout.layout.empty() ? 0 : 1;
      }
    }
  }
  EXPECT_GT(split_runs, 300U);
}

}  // namespace
}  // namespace goban::mesh
