#include "train/mesh/layers.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <cmath>
#include <gmock/gmock.h>

#include "train/comm/thread_world.hpp"
#include "train/mesh/kernels.hpp"
#include "train/mesh/test_layouts.hpp"

namespace goban::train::mesh {
namespace {

constexpr double kTolerance = 2e-5;

/// Runs the model under every legal layout of the meshes and compares with the unsplit run, whose
/// values it returns.
std::vector<at::Tensor> everywhere(const Builder& build, size_t least_layouts) {
  const auto whole = run_on_threads(build, {"", ""});
  EXPECT_TRUE(whole) << whole.error().text();
  size_t layouts = 0;
  for (const char* mesh : {"x:2", "x:4", "x:2;y:2"}) {
    for (const LayoutCase& layout : legal_layouts(build, mesh)) {
      const auto split = run_on_threads(build, layout);
      EXPECT_TRUE(split) << layout.layout << ": " << split.error().text();
      if (!split) continue;
      EXPECT_EQ(difference(*split, *whole, kTolerance), "") << mesh << ' ' << layout.layout;
      layouts += layout.layout.empty() ? 0 : 1;
    }
  }
  EXPECT_GE(layouts, least_layouts);
  return *whole;
}

TEST(LocalAttention, EqualsFullAttentionWithAWindow) {
  const Dim batch{"batch", 2}, heads{"heads", 2}, length{"length", 12}, depth{"depth", 3};
  constexpr int64_t kWindow = 3;
  const Builder build = [&](Graph& g) {
    const Shape shape{batch, heads, length, depth};
    const Tensor q = g.input("q", shape), k = g.input("k", shape), v = g.input("v", shape);
    return with_gradients(local_attention(q, k, v, "length", "depth", kWindow), {q, k, v});
  };
  const std::vector<at::Tensor> got = everywhere(build, 6);
  Graph g;
  build(g);
  Feeds feeds = make_feeds(g, 1);
  std::vector<at::Tensor> inputs;
  for (const char* name : {"q", "k", "v"}) inputs.push_back(feeds[name]);
  const at::Tensor place = at::arange(12);
  const at::Tensor back =
      place.unsqueeze(1).sub(place);  // distance of the memory position before the query
  const at::Tensor seen = back.ge(0).logical_and(back.lt(kWindow));
  const at::Tensor scores = at::matmul(inputs[0], inputs[1].transpose(2, 3)).div(std::sqrt(3.0));
  const at::Tensor shares = scores.masked_fill(seen.logical_not(), -1e9).softmax(-1);
  EXPECT_EQ(difference({got[0]}, {at::matmul(shares, inputs[2])}, kTolerance), "");
  EXPECT_THROW(local_attention(g.input("a", {length, depth}), g.input("b", {length, depth}),
                               g.input("c", {length, depth}), "length", "depth", 5),
               GraphError);
}

TEST(BatchNorm, NormalisesOverSplitDimensionsToo) {
  const Dim batch{"batch", 8}, rows{"rows", 4}, channels{"channels", 2};
  const Builder build = [&](Graph& g) {
    Layers layers(g, DType::F32);
    const Tensor x = g.input("x", {batch, rows, channels});
    const Tensor y = layers.batch_norm("norm", x, {channels}, /*training=*/true);
    return with_gradients(y, {x, layers.parameters()[0].value, layers.parameters()[1].value});
  };
  const std::vector<at::Tensor> got = everywhere(build, 4);
  Graph g;
  build(g);
  const at::Tensor x = make_feeds(g, 1)["x"];
  const at::Tensor wanted = std::get<0>(at::native_batch_norm(x.permute({0, 2, 1}).contiguous(), {},
                                                              {}, {}, {}, true, 0.1, 1e-6))
                                .permute({0, 2, 1});
  EXPECT_EQ(difference({got[0]}, {wanted}, kTolerance), "");
}

TEST(BatchNorm, KeepsRunningValuesForEvaluation) {
  const Dim batch{"batch", 4}, channels{"channels", 3};
  const auto status = comm::run_threads(1, {}, [&](comm::Communicator& end) -> base::Status {
    Graph train, test;
    Layers layers(train, DType::F32), evaluation(test, DType::F32);
    const Tensor y =
        layers.batch_norm("norm", train.input("x", {batch, channels}), {channels}, true);
    const Tensor z =
        evaluation.batch_norm("norm", test.input("x", {batch, channels}), {channels}, false);
    Variables variables(train, {}, {}, end), shared(test, variables);
    variables.initialize(1);
    auto step = Program::create(variables, {{y}, true, 1});
    auto evaluate = Program::create(shared, {{z}, false, 1});
    if (!step || !evaluate) return base::failed("no program");
    at::Tensor mean = at::zeros({3}), variance = at::ones({3});
    for (uint64_t i = 0; i < 3; ++i) {
      const Feeds feeds = make_feeds(train, i);
      if (auto s = (*step)->run({feeds}, i); !s) return base::failure(s.error());
      const at::Tensor& x = feeds.at("x");
      mean = mean.mul(0.9).add(x.mean(0), 0.1);
      variance = variance.mul(0.9).add(x.var(0, /*unbiased=*/false), 0.1);
    }
    const Feeds feeds = make_feeds(test, 9);
    const auto got = (*evaluate)->run({feeds}, 0);
    if (!got) return base::failure(got.error());
    const at::Tensor wanted = feeds.at("x").sub(mean).div(variance.add(1e-6).sqrt());
    EXPECT_EQ(difference({(*got)[0]}, {wanted}, kTolerance), "");
    return {};
  });
  EXPECT_TRUE(status) << status.error().text();
}

TEST(SeparableConv, EqualsGroupedThenPointwiseConvolution) {
  const Dim batch{"batch", 2}, rows{"rows", 4}, cols{"cols", 6}, in{"in", 4}, out{"out", 2};
  const Builder build = [&](Graph& g) {
    Layers layers(g, DType::F32);
    const Tensor x = g.input("x", {batch, rows, cols, in});
    const Tensor y = layers.separable_conv("s", x, {{"rows", -1, 1}, {"cols", -2, 0}}, "in", {out});
    std::vector<Tensor> of = {x};
    for (const Parameter& each : layers.parameters()) of.push_back(each.value);
    std::vector<Tensor> all = with_gradients(y, of);
    all.insert(all.end(), of.begin() + 1, of.end());  // depthwise, pointwise's kernel and bias
    return all;
  };
  const std::vector<at::Tensor> got = everywhere(build, 12);
  Graph g;
  build(g);
  at::Tensor x = make_feeds(g, 1)["x"].clone().set_requires_grad(true);
  std::vector<at::Tensor> leaves = {x};
  for (size_t i = 5; i < 8; ++i) leaves.push_back(got[i].clone().set_requires_grad(true));
  // Columns cover two positions to the left and themselves: padded by hand.
  const at::Tensor image = at::constant_pad_nd(x.permute({0, 3, 1, 2}), {2, 0, 1, 1});
  const at::Tensor filter = leaves[1].t().reshape({4, 1, 3, 3});
  const at::Tensor deep = at::conv2d(image, filter, {}, 1, at::IntArrayRef{0, 0}, 1, 4);
  const at::Tensor y = at::matmul(deep.permute({0, 2, 3, 1}), leaves[2]) + leaves[3];
  EXPECT_EQ(difference({got[0]}, {y.detach()}, kTolerance), "");
  const std::vector<int64_t> begin(4, 0), sizes = {2, 4, 6, 2};
  const at::Tensor weights =
      random_slice(Distribution::Uniform, mix_seed(7, "0"), {batch, rows, cols, out}, begin, sizes);
  y.mul(weights).sum().backward();
  for (size_t i = 0; i < leaves.size(); ++i) {
    EXPECT_EQ(difference({got[i + 1]}, {leaves[i].grad()}, kTolerance), "") << i;
  }
  Layers layers(g, DType::F32);
  const Tensor image_again = g.input("again", {batch, rows, in});
  EXPECT_THROW(layers.separable_conv("t", image_again, {{"rows", 1, 0}}, "in", {out}), GraphError);
  EXPECT_THROW(layers.separable_conv("u", image_again, {{"in", 0, 1}}, "in", {out}), GraphError);
  EXPECT_THROW(layers.separable_conv("v", image_again, {{"absent", 0, 1}}, "in", {out}),
               std::exception);
}

}  // namespace
}  // namespace goban::train::mesh
