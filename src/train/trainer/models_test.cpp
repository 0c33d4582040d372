#include <gtest/gtest.h>

#include "train/mesh/optimizer.hpp"
#include "train/mesh/plan.hpp"
#include "train/mesh/test_layouts.hpp"
#include "train/trainer/models/model.hpp"
#include "train/trainer/training_step.hpp"

namespace goban::train::trainer {
namespace {

using namespace mesh;

/// The label input has this name so that make_feeds knows its range.
std::vector<Tensor> training(Graph& g, Layers& layers, const Model& model,
                             OptimizerOptions::Kind kind) {
  std::vector<Tensor> values;
  for (const Parameter& each : layers.parameters()) values.push_back(each.value);
  std::vector<Tensor> averaged;
  for (const Tensor& each : gradients(model.loss, values)) averaged.push_back(accumulate(each));
  OptimizerOptions options;
  options.kind = kind;
  options.learning_rate = kind == OptimizerOptions::Kind::Adafactor ? 0 : 0.05;
  options.weight_decay = 0.01;
  options.factor_from = 8;
  add_updates(g, layers.parameters(), averaged, options);
  return {accumulate(model.loss)};
}

TEST(MnistModel, HasTheParametersOfTheExample) {
  Graph g;
  Layers layers(g, DType::F32);
  (void)mnist_model(layers, 200, 512);
  int64_t count = 0;
  for (const Variable& variable : g.variables()) count += variable.shape.size();
  EXPECT_EQ(count, 691'738);  // 1,296 + 20,736 + 401,920 + 262,656 + 5,130
}

TEST(MnistModel, BlocksEqualOneConvolutionOnTheWholeImage) {
  const auto blocks = [](Graph& g) {
    const Tensor x = g.input("x", {{"n", 3}, {"p", 784}});
    const Tensor f = g.input("f", {{"fh", 9}, {"fw", 9}, {"i", 1}, {"o", 16}});
    const Dim rb{"rb", 4}, cb{"cb", 4}, r{"r", 7}, c{"c", 7}, one{"i", 1}, n{"n", 3};
    const Tensor cut = transpose(reshape(x, {n, rb, r, cb, c, one}), {n, rb, cb, r, c, one});
    const Tensor y = conv_with_blocks(cut, f);
    return with_gradients(
        reshape(transpose(y, {n, rb, r, cb, c, {"o", 16}}), {n, {"p", 784}, {"o", 16}}), {x, f});
  };
  const auto whole = [](Graph& g) {
    const Tensor x = g.input("x", {{"n", 3}, {"p", 784}});
    const Tensor f = g.input("f", {{"fh", 9}, {"fw", 9}, {"i", 1}, {"o", 16}});
    const Tensor image = reshape(x, {{"n", 3}, {"h", 28}, {"w", 28}, {"i", 1}});
    return with_gradients(reshape(conv(image, f, Padding::Same), {{"n", 3}, {"p", 784}, {"o", 16}}),
                          {x, f});
  };
  const auto wanted = run_on_threads(whole, {"", ""});
  ASSERT_TRUE(wanted) << wanted.error().text();
  for (const LayoutCase& layout :
       {LayoutCase{"", ""}, {"x:2;y:2", "rb:x;cb:y"}, {"x:4", "rb:x"}, {"x:2", "cb:x"}}) {
    const auto got = run_on_threads(blocks, layout);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(difference(*got, *wanted, 1e-4), "") << layout.layout;
  }
}

/// The loss after a few steps under one layout.
double trajectory(const Builder& build, const LayoutCase& layout, int steps, int micro_batches) {
  RunOptions options;
  options.update = true;
  options.steps = steps;
  options.micro_batches = micro_batches;
  const auto got = run_on_threads(build, layout, options);
  EXPECT_TRUE(got) << layout.layout << ": " << got.error().text();
  return got ? (*got)[0].item<double>() / micro_batches : -1;
}

Builder with_labels(const std::function<Model(Layers&)>& make, OptimizerOptions::Kind kind) {
  return [=](Graph& g) {
    Layers layers(g, DType::F32);
    const Model model = make(layers);
    return training(g, layers, model, kind);
  };
}

using Kind = OptimizerOptions::Kind;

void expect_one_trajectory(const Builder& build, const std::vector<LayoutCase>& layouts,
                           double tolerance) {
  const double first = trajectory(build, {"", ""}, 1, 1);
  const double wanted = trajectory(build, {"", ""}, 4, 1);
  EXPECT_NE(first, wanted);  // the loss changes
  for (const LayoutCase& layout : layouts) {
    EXPECT_NEAR(trajectory(build, layout, 4, 1), wanted, tolerance)
        << layout.mesh << " " << layout.layout;
  }
  EXPECT_NEAR(trajectory(build, {"x:2", "batch:x"}, 2, 2), trajectory(build, {"", ""}, 2, 2),
              tolerance)
      << "micro-batches";
}

TEST(Mlp, EveryOptimizerFollowsOneTrajectoryUnderEveryLayout) {
  for (const Kind kind : {Kind::Sgd, Kind::Momentum, Kind::AdamW, Kind::Adafactor}) {
    expect_one_trajectory(
        with_labels([](Layers& layers) { return mlp_model(layers, 8, 16); }, kind),
        {{"x:2", "batch:x"},
         {"x:4", "hidden1:x"},
         {"x:2;y:2", "batch:x;hidden1:y"},
         {"x:2;y:2", "hidden1:x;hidden2:y"},
         {"x:2", "pixels:x;hidden2:x"}},
        2e-4);
  }
}

TEST(MnistModel, FollowsOneTrajectoryUnderEveryLayout) {
  expect_one_trajectory(
      with_labels([](Layers& layers) { return mnist_model(layers, 4, 16); }, Kind::Adafactor),
      {{"x:4", "batch:x"},
       {"x:4", "hidden1:x"},
       {"x:2;y:2", "batch:x;hidden1:y"},
       {"x:2;y:2", "row_blocks:x;col_blocks:y"},
       {"x:2", "hidden2:x"}},
      2e-4);
}

TEST(Transformer, DataTensorAndSequenceParallelFollowOneTrajectory) {
  for (const bool causal : {true, false}) {
    for (const bool recompute : {false, true}) {
      TransformerShape shape{4, 8, 16, 8, 4, 2, 16, 2, causal, recompute, 0.1};
      expect_one_trajectory(
          with_labels([=](Layers& layers) { return transformer_model(layers, shape); },
                      Kind::AdamW),
          {{"x:4", "batch:x"},
           {"x:2", "heads:x;d_ff:x;vocab:x"},
           {"x:4", "length:x"},
           {"x:2;y:2", "batch:x;heads:y;d_ff:y;vocab:y"},
           {"x:2;y:2", "batch:x;length:y"}},
          5e-4);
    }
  }
}

TEST(Transformer, RecomputationChangesMemoryAndNothingElse) {
  const auto build = [](bool recompute) {
    return [=](Graph& g) {
      Layers layers(g, DType::F32);
      const TransformerShape shape{4, 32, 16, 8, 4, 2, 32, 6, true, recompute, 0.1};
      return training(g, layers, transformer_model(layers, shape), Kind::Sgd);
    };
  };
  EXPECT_EQ(trajectory(build(true), {"", ""}, 3, 1), trajectory(build(false), {"", ""}, 3, 1));
  const auto peak = [](const Builder& builder) {
    Graph g;
    std::vector<NodeId> roots;
    for (const Tensor& fetch : builder(g)) roots.push_back(fetch.id());
    for (const Assignment& each : g.assignments()) roots.push_back(each.value);
    return lower(g, roots, {}, {}, 0)->totals.peak_value_bytes;
  };
  EXPECT_LT(static_cast<double>(peak(build(true))), 0.6 * static_cast<double>(peak(build(false))));
}

TEST(Layouts, HiddenIsShortForTheFirstHiddenLayerOfImageModels) {
  const auto rules = [](const char* task, const char* layout) {
    TrainOptions options;
    options.task = task;
    options.layout = layout;
    return layout_rules(options)->text();
  };
  EXPECT_EQ(rules("mnist", "batch:rows;hidden:cols"), "batch:rows;hidden1:cols");
  EXPECT_EQ(rules("fashion", "hidden:x;hidden2:y"), "hidden1:x;hidden2:y");
  EXPECT_EQ(rules("mnist", "hidden:x;hidden1:y"), "hidden:x;hidden1:y");  // rejected later
  EXPECT_EQ(rules("lm", "hidden:x"), "hidden:x");
}

}  // namespace
}  // namespace goban::train::trainer
