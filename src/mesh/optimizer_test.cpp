#include "mesh/optimizer.hpp"

#include <ATen/ATen.h>
#include <functional>
#include <gtest/gtest.h>

#include "comm/thread_world.hpp"
#include "mesh/gradient.hpp"
#include "mesh/kernels.hpp"
#include "mesh/program.hpp"

namespace goban::mesh {
namespace {

constexpr int kSteps = 4;
const Dim kRows{"rows", 6}, kColumns{"columns", 10};

/// Gradient of step `step`: the loss is the sum of x * w.
at::Tensor gradient_of(int step) {
  return at::sin(at::arange(60, at::kFloat).mul(0.7 + step)).view({6, 10});
}

/// The parameter after some steps of ours, on a mesh.
at::Tensor ours(const OptimizerOptions& options, const char* mesh, const char* layout,
                const at::Tensor& start, const VariableTypes& types = {}) {
  const MeshShape shape = *MeshShape::parse(mesh);
  at::Tensor out;
  const auto status = comm::run_threads(
      static_cast<int>(shape.devices()), {}, [&](comm::Communicator& end) -> base::Status {
        Graph g;
        Layers layers(g, types);
        const Tensor x = g.input("x", {kRows, kColumns});
        const Tensor w = layers.parameter("w", {kRows, kColumns}, {});
        const Tensor loss = reduce_sum(cast(w, DType::F32) * x, {});
        add_updates(g, layers.parameters(), gradients(loss, {w}), options);
        Variables variables(g, shape, *LayoutRules::parse(layout), end);
        variables.set_whole(0, start);
        auto program = Program::create(variables, {{loss}, true, 1});
        if (!program) return base::failure(program.error());
        for (int step = 0; step < kSteps; ++step) {
          const auto values =
              (*program)->run({{{"x", gradient_of(step)}}}, static_cast<uint64_t>(step));
          if (!values) return base::failure(values.error());
        }
        const auto whole = variables.whole(0);
        if (!whole) return base::failure(whole.error());
        if (end.rank() == 0) out = *whole;
        return {};
      });
  EXPECT_TRUE(status) << status.error().text();
  return out;
}

at::Tensor start_value() { return at::cos(at::arange(60, at::kFloat)).view({6, 10}); }

/// `update` changes w from the gradient of each step (1, 2, ...), as the published formulas do.
void expect_same(const OptimizerOptions& options,
                 const std::function<void(at::Tensor& w, const at::Tensor& g, int t)>& update) {
  at::Tensor w = start_value();
  for (int step = 0; step < kSteps; ++step) update(w, gradient_of(step), step + 1);
  EXPECT_FALSE(at::allclose(w, start_value(), 1e-3));
  for (const auto& [mesh, layout] :
       {std::pair("", ""), std::pair("x:2", "rows:x"), std::pair("x:2", "columns:x"),
        std::pair("x:2;y:2", "columns:x;rows:y")}) {
    const at::Tensor got = ours(options, mesh, layout, start_value());
    EXPECT_TRUE(at::allclose(got, w, 1e-5, 1e-6)) << layout << got.sub(w).abs().max();
  }
}

TEST(Optimizer, Sgd) {
  OptimizerOptions options;
  options.kind = OptimizerOptions::Kind::Sgd;
  options.learning_rate = 0.1;
  expect_same(options, [](at::Tensor& w, const at::Tensor& g, int) { w.sub_(g * 0.1); });
}

TEST(Optimizer, Momentum) {
  OptimizerOptions options;
  options.kind = OptimizerOptions::Kind::Momentum;
  options.learning_rate = 0.1;
  at::Tensor v = at::zeros({6, 10});
  expect_same(options, [&](at::Tensor& w, const at::Tensor& g, int) {
    v = g * 0.1 + v * 0.9;
    w.sub_(v);
  });
}

TEST(Optimizer, AdamWWithoutBiasCorrection) {
  OptimizerOptions options;
  options.kind = OptimizerOptions::Kind::AdamW;
  options.learning_rate = 0.01;
  options.weight_decay = 0.1;
  at::Tensor m = at::zeros({6, 10}), v = at::zeros({6, 10});
  const auto update = [&](at::Tensor& w, const at::Tensor& g, int) {
    m = m * 0.9 + g * 0.1;
    v = v * 0.999 + g * g * 0.001;
    w.sub_((m / (v.sqrt() + 1e-6) + w * 0.1) * 0.01);
  };
  expect_same(options, update);
  // A name that matches is not decayed.
  options.no_decay = "w$";
  const at::Tensor plain = ours(options, "", "", start_value());
  options.weight_decay = 0;
  EXPECT_TRUE(at::equal(plain, ours(options, "", "", start_value())));
}

/// Shazeer and Stern, "Adafactor" (2018), with Mesh TensorFlow's defaults.
void adafactor(at::Tensor& w, const at::Tensor& g, int t, bool factored, at::Tensor& rows,
               at::Tensor& columns, at::Tensor& all) {
  const double decay = 1 - std::pow(t, -0.8), rate = std::min(1 / std::sqrt(t), 0.01);
  const at::Tensor squared = g * g + 1e-30;
  at::Tensor update;
  if (factored) {
    rows = rows * decay + squared.mean(1) * (1 - decay);
    columns = columns * decay + squared.mean(0) * (1 - decay);
    update = g * (rows / rows.mean()).rsqrt().unsqueeze(1) * columns.rsqrt().unsqueeze(0);
  } else {
    all = all * decay + squared * (1 - decay);
    update = g * all.rsqrt();
  }
  const double size = update.square().mean().sqrt().item<double>();
  const double scale = std::max(w.square().mean().sqrt().item<double>(), 1e-3);
  w.sub_(update * (rate * scale / std::max(size, 1.0)));
}

TEST(Optimizer, AdafactorFactoredAndNot) {
  for (const bool factored : {true, false}) {
    OptimizerOptions options;
    options.factor_from = factored ? 6 : 128;
    at::Tensor rows = at::zeros({6}), columns = at::zeros({10}), all = at::zeros({6, 10});
    expect_same(options, [&](at::Tensor& w, const at::Tensor& g, int t) {
      adafactor(w, g, t, factored, rows, columns, all);
    });
  }
}

TEST(Optimizer, SlicesMayBeOfAnotherTypeThanComputing) {
  OptimizerOptions options;
  options.kind = OptimizerOptions::Kind::AdamW;
  options.learning_rate = 0.01;
  const at::Tensor exact = ours(options, "", "", start_value());
  const VariableTypes bf16{DType::F32, DType::BF16, DType::BF16};
  const at::Tensor rounded = ours(options, "x:2", "rows:x", start_value(), bf16);
  EXPECT_EQ(rounded.scalar_type(), at::kBFloat16);
  EXPECT_TRUE(at::allclose(rounded.to(at::kFloat), exact, 0.02, 0.02));
}

}  // namespace
}  // namespace goban::mesh
