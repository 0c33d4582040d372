#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <gmock/gmock.h>

#include "train/mesh/functions.hpp"
#include "train/mesh/test_layouts.hpp"

namespace goban::train::mesh {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Dim kA{"a", 4}, kB{"b", 6};

/// Means and sums of a product's parts, in scopes.
std::vector<Tensor> with_summaries(Graph& g) {
  const Tensor x = g.input("x", {kA, kB}, DType::F64), w = g.input("w", {kB}, DType::F64);
  const Graph::Scope scope(g, "layer");
  const Tensor y = einsum({x, w}, {kA});
  const Tensor mean = scalar_summary("mean", reduce_mean(y, {}));
  (void)scalar_summary("mean", reduce_sum(square(x), {}));  // a duplicate name gets a number
  return with_gradients(y * mean, {x, w});
}

std::vector<Tensor> fetched_summaries(Graph& g) {
  std::vector<Tensor> out = with_summaries(g);
  for (const ScalarSummary& each : g.summaries()) out.push_back(g.tensor(each.value));
  return out;
}

TEST(ScalarSummary, IsItsValueUnderEveryLayoutAndIsFetchedByName) {
  Graph once;
  (void)fetched_summaries(once);
  std::vector<std::string> names;
  for (const ScalarSummary& each : once.summaries()) names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("layer/mean", "layer/mean_1"));
  Feeds feeds = make_feeds(once, 1);
  const auto whole = run_on_threads(fetched_summaries, {"", ""});
  ASSERT_TRUE(whole) << whole.error().text();
  const at::Tensor y = at::matmul(feeds["x"], feeds["w"]);
  EXPECT_EQ(difference({(*whole)[3], (*whole)[4]}, {y.mean(), feeds["x"].square().sum()}, 1e-12),
            "");
  EXPECT_EQ(difference({(*whole)[0]}, {y * y.mean()}, 1e-12), "");
  size_t layouts = 0;
  for (const char* mesh : {"x:2", "x:2;y:2"}) {
    for (const LayoutCase& layout : legal_layouts(fetched_summaries, mesh)) {
      const auto split = run_on_threads(fetched_summaries, layout);
      ASSERT_TRUE(split) << layout.layout << ": " << split.error().text();
      EXPECT_EQ(difference(*split, *whole, 1e-12), "") << mesh << ' ' << layout.layout;
      ++layouts;
    }
  }
  EXPECT_GE(layouts, 8U);
}

TEST(ScalarSummary, CostsNoMessageOfItsOwn) {
  // The gradient of the loss is reduced anyway: the summary travels in its message.
  const auto collectives = [](bool summarized) {
    Graph g;
    const Tensor x = g.input("x", {kA, kB}), w = g.input("w", {kB});
    const Tensor y = einsum({x, w}, {kA});
    std::vector<NodeId> roots = {reduce_sum(x, {kB}).id()};
    if (summarized) roots.push_back(scalar_summary("sum", reduce_sum(y, {})).id());
    return lower(g, roots, *MeshShape::parse("m:2"), *LayoutRules::parse("a:m"), 0)->totals;
  };
  EXPECT_EQ(collectives(true).collectives, collectives(false).collectives);
  EXPECT_GT(collectives(true).sent_bytes, collectives(false).sent_bytes);
}

TEST(ScalarSummary, WhatCannotBeSummarizedIsRefusedWhileBuilding) {
  const auto said = [](const std::function<void(Graph&)>& build) {
    Graph g;
    try {
      build(g);
    } catch (const GraphError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_THAT(said([](Graph& g) { (void)scalar_summary("x", g.input("in", {kA})); }),
              HasSubstr("'x' is [a=4], not a scalar"));
  EXPECT_THAT(said([](Graph& g) { (void)scalar_summary("two words", fill(g, {}, 1)); }),
              HasSubstr("name 'two words' must consist of"));
  EXPECT_THAT(said([](Graph& g) { (void)scalar_summary("", fill(g, {}, 1)); }),
              HasSubstr("name '' must consist of"));
  EXPECT_THAT(
      said([](Graph& g) {
        (void)while_loop(
            {fill(g, {}, 0)},
            [](const std::vector<Tensor>& s) { return less(s[0], fill(s[0].graph(), {}, 2)); },
            [](const std::vector<Tensor>& s) {
              return std::vector<Tensor>{scalar_summary("turn", s[0] + 1.0)};
            });
      }),
      HasSubstr("the summary 'turn' is inside the loop"));
}

}  // namespace
}  // namespace goban::train::mesh
