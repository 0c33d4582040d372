#include "train/mesh/optimizer.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/square.h>
#include <ATen/ops/zeros.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <unistd.h>

#include "train/comm/thread_world.hpp"
#include "train/mesh/adam_kernel.hpp"
#include "train/mesh/gradient.hpp"
#include "train/mesh/kernels.hpp"
#include "train/mesh/matmul.hpp"
#include "train/mesh/program.hpp"
#include "train/mesh/test_checkpoint.hpp"

namespace goban::train::mesh {
namespace {

constexpr int kSteps = 4;
const Dim kRows{"rows", 6}, kColumns{"columns", 10};

/// Gradient of step `step`: the loss is the sum of x * w.
at::Tensor gradient_of(int step) {
  return at::sin(at::arange(60, at::kFloat).mul(0.7 + step)).view({6, 10});
}

/// The parameter after some steps of our optimiser, on a mesh.
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

/// `update` updates w by the gradient of each step (1, 2, ...), as in the published formulas.
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

/// w, m, v and a gradient of `count` elements, some far smaller than epsilon.
struct Moments {
  explicit Moments(int64_t count)
      : w(at::cos(at::arange(count, at::kFloat))),
        m(at::sin(at::arange(count, at::kFloat).mul(0.3))),
        v(at::square(m).mul(0.5)),
        g(at::pow(at::sin(at::arange(count, at::kFloat).mul(1.9)), 21)) {}
  at::Tensor w, m, v, g;
};

const AdamRule kRule = {0, 0, 0.01, 0.9, 0.999, 1e-6, 0.1};

TEST(AdamKernel, IsTheFormulaStepByStepAndThatOfTheOperations) {
  for (const int64_t count : {1, 15, 16, 1'000, 200'003}) {
    Moments fused(count), steps(count);
    const Moments start(count);
    adam_update(fused.w, fused.m, fused.v, fused.g, kRule);
    use_own_kernels(false);
    adam_update(steps.w, steps.m, steps.v, steps.g, kRule);
    use_own_kernels(true);
    const at::Tensor g = start.g.to(at::kDouble), w = start.w.to(at::kDouble);
    const at::Tensor m = start.m.to(at::kDouble) * 0.9 + g * 0.1;
    const at::Tensor v = start.v.to(at::kDouble) * 0.999 + g * g * 0.001;
    const at::Tensor moved = w - (m / (v.sqrt() + 1e-6) + w * 0.1) * 0.01;
    for (const Moments* got : {&fused, &steps}) {
      EXPECT_TRUE(at::allclose(got->m.to(at::kDouble), m, 1e-6, 1e-7)) << count;
      EXPECT_TRUE(at::allclose(got->v.to(at::kDouble), v, 1e-6, 1e-12)) << count;
      EXPECT_TRUE(at::allclose(got->w.to(at::kDouble), moved, 1e-6, 1e-7)) << count;
    }
    EXPECT_TRUE(at::equal(fused.g, start.g));
  }
}

TEST(AdamKernel, PiecesOfAnySizeHaveTheBitsOfTheWhole) {
  constexpr int64_t kCount = 1'000;
  Moments whole(kCount), pieces(kCount);
  adam_update(whole.w, whole.m, whole.v, whole.g, kRule);
  int64_t begin = 0;
  for (int64_t size = 1; begin < kCount; size += 3) {
    const int64_t count = std::min(size, kCount - begin);
    const auto part = [&](const at::Tensor& x) { return x.narrow(0, begin, count); };
    at::Tensor w = part(pieces.w), m = part(pieces.m), v = part(pieces.v);
    adam_update(w, m, v, part(pieces.g), kRule);
    begin += count;
  }
  EXPECT_TRUE(at::equal(whole.w, pieces.w));
  EXPECT_TRUE(at::equal(whole.m, pieces.m));
  EXPECT_TRUE(at::equal(whole.v, pieces.v));
}

TEST(AdamKernel, TakesGradientsOfOtherTypesAndStrides) {
  Moments one(60), other(60);
  const at::Tensor turned = one.g.view({6, 10}).t().contiguous().t();  // the same values by columns
  for (Moments* each : {&one, &other}) {
    for (at::Tensor* x : {&each->w, &each->m, &each->v}) *x = x->view({6, 10});
  }
  adam_update(one.w, one.m, one.v, turned, kRule);
  adam_update(other.w, other.m, other.v, other.g.view({6, 10}), kRule);
  EXPECT_TRUE(at::equal(one.w, other.w));
  const at::Tensor half = other.g.view({6, 10}).to(at::kBFloat16);
  adam_update(one.w, one.m, one.v, half, kRule);
  adam_update(other.w, other.m, other.v, half.to(at::kFloat), kRule);
  EXPECT_TRUE(at::equal(one.w, other.w));
}

/// Runs steps `first` to `last` of AdamW on two ranks' slices; loads a checkpoint first and saves
/// one at the end.
void adam_steps(const std::string& layout, int first, int last, const std::string& from,
                const std::string& to) {
  const auto status = comm::run_threads(2, {}, [&](comm::Communicator& end) -> base::Status {
    Graph g;
    Layers layers(g, DType::F32);
    const Tensor x = g.input("x", {kRows, kColumns});
    const Tensor w = layers.parameter("w", {kRows, kColumns}, {Initializer::Kind::Normal, 1});
    OptimizerOptions options;
    options.kind = OptimizerOptions::Kind::AdamW;
    options.learning_rate = 0.01;
    options.weight_decay = 0.1;
    add_updates(g, layers.parameters(), gradients(reduce_sum(w * x, {}), {w}), options);
    Variables variables(g, *MeshShape::parse("x:2"), *LayoutRules::parse(layout), end);
    variables.initialize(3);
    // Slots are laid out like the parameter: half of each where it is split.
    for (VariableId id = 0; id < static_cast<VariableId>(variables.size()); ++id) {
      if (g.variable(id).shape.rank() == 0) continue;  // the step counter
      EXPECT_EQ(variables.slice(id).sizes(), variables.slice(0).sizes()) << g.variable(id).name;
    }
    if (!from.empty()) {
      if (auto loaded = load_checkpoint(from, variables); !loaded) {
        return base::failure(loaded.error());
      }
    }
    auto program = Program::create(variables, {{}, true, 1});
    if (!program) return base::failure(program.error());
    const int64_t elements = variables.slice(0).numel();
    EXPECT_EQ((*program)->plan().totals.updated_bytes, 3 * 4 * elements + 8);  // w, m, v; the count
    // An evaluation updates nothing.
    EXPECT_EQ(lower(g, {w.id()}, {}, {}, 0)->totals.updated_bytes, 0);
    for (int step = first; step < last; ++step) {
      auto ran = (*program)->run({{{"x", gradient_of(step)}}}, static_cast<uint64_t>(step));
      if (!ran) return base::failure(ran.error());
    }
    return save_checkpoint(to, variables, {});
  });
  EXPECT_TRUE(status) << status.error().text();
}

TEST(Optimizer, AdamWGoesOnFromACheckpointWithTheSameBitsUnderAnyLayout) {
  const auto path = [](const char* name) {
    return fmt::format("{}/goban_adam_{}_{}", ::testing::TempDir(), name, getpid());
  };
  const auto contents = [](const std::string& name) {
    std::ifstream in(name, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  adam_steps("", 0, 6, "", path("whole"));
  const std::string wanted = contents(path("whole"));
  EXPECT_THAT(wanted, ::testing::HasSubstr("optimizer/w/adam_v"));
  for (const char* layout : {"", "rows:x", "columns:x"}) {
    adam_steps("rows:x", 0, 2, "", path("half"));
    EXPECT_NE(contents(path("half")), wanted);
    adam_steps(layout, 2, 6, path("half"), path("rest"));
    EXPECT_EQ(contents(path("rest")), wanted) << layout;
  }
  for (const char* name : {"whole", "half", "rest"}) std::filesystem::remove(path(name));
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
}  // namespace goban::train::mesh
