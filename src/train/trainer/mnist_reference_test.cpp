// Compares Mesh TensorFlow's MNIST model, split into blocks and laid out over a mesh, with the
// equivalent ordinary model: convolutions over 28x28 images with zero padding, linear layers and
// Adafactor, written with LibTorch's functions and gradients.
#include <ATen/TensorOperators.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <gtest/gtest.h>

#include "train/comm/thread_world.hpp"
#include "train/mesh/gradient.hpp"
#include "train/mesh/optimizer.hpp"
#include "train/mesh/test_layouts.hpp"
#include "train/trainer/models/model.hpp"

namespace goban::train::trainer {
namespace {

using mesh::Feeds;
using mesh::LayoutCase;

constexpr int64_t kBatch = 10, kHidden = 512, kImage = 28;
constexpr int kSteps = 8;
constexpr uint64_t kSeed = 11;

/// The model's parameters in the order of their creation.
enum Parameter : uint8_t {
  Filter0,
  Filter1,
  Weight1,
  Bias1,
  Weight2,
  Bias2,
  Weight3,
  Bias3,
  kParameters
};

struct Training {
  std::vector<at::Tensor> start;      ///< parameters before the first step
  std::vector<at::Tensor> gradients;  ///< of the first batch
  std::vector<double> losses;         ///< before each step
  std::vector<Feeds> batches;
};

base::Status train_rank(const LayoutCase& layout, comm::Communicator& end, Training& out) {
  mesh::Graph graph;
  mesh::Layers layers(graph, mesh::DType::F32);
  const Model model = mnist_model(layers, kBatch, kHidden);
  std::vector<mesh::Tensor> values;
  for (const mesh::Parameter& each : layers.parameters()) values.push_back(each.value);
  const std::vector<mesh::Tensor> gradients = mesh::gradients(model.loss, values);
  mesh::add_updates(graph, layers.parameters(), gradients, {});
  mesh::Variables variables(graph, *mesh::MeshShape::parse(layout.mesh),
                            *mesh::LayoutRules::parse(layout.layout), end);
  variables.initialize(kSeed);
  for (const mesh::Parameter& each : layers.parameters()) {
    const auto whole = variables.whole(each.variable);
    if (!whole) return base::failure(whole.error());
    out.start.push_back(whole->clone());
  }
  std::vector<mesh::Tensor> fetches = {model.loss};
  fetches.insert(fetches.end(), gradients.begin(), gradients.end());
  auto program = mesh::Program::create(variables, {fetches, true, 1});
  if (!program) return base::failure(program.error());
  for (int step = 0; step < kSteps; ++step) {
    out.batches.push_back(mesh::make_feeds(graph, kSeed + static_cast<uint64_t>(step % 2)));
    auto got = (*program)->run({out.batches.back()}, static_cast<uint64_t>(step));
    if (!got) return base::failure(got.error());
    out.losses.push_back((*got)[0].item<double>());
    if (step == 0) out.gradients.assign(got->begin() + 1, got->end());
  }
  return {};
}

Training trained(const LayoutCase& layout) {
  const auto ranks = static_cast<size_t>(mesh::MeshShape::parse(layout.mesh)->devices());
  std::vector<Training> all(ranks);
  const auto status = comm::run_threads(static_cast<int>(ranks), {}, [&](comm::Communicator& end) {
    return train_rank(layout, end, all[static_cast<size_t>(end.rank())]);
  });
  EXPECT_TRUE(status) << layout.layout << ": " << status.error().text();
  return all[0];
}

at::Tensor ordinary_loss(const std::vector<at::Tensor>& p, const Feeds& batch) {
  const auto filter = [&](Parameter which) { return p[which].permute({3, 2, 0, 1}); };
  at::Tensor x = batch.at("image").to(at::kDouble).view({kBatch, 1, kImage, kImage});
  x = at::relu(at::conv2d(x, filter(Filter0), {}, 1, 4));
  x = at::relu(at::conv2d(x, filter(Filter1), {}, 1, 4));
  x = x.mean(1).reshape({kBatch, kImage * kImage});
  // [row block, column block, row, column, hidden] as [pixel, hidden].
  const at::Tensor first = p[Weight1].permute({0, 2, 1, 3, 4}).reshape({kImage * kImage, kHidden});
  x = at::relu(at::linear(x, first.t(), p[Bias1]));
  x = at::relu(at::linear(x, p[Weight2].t(), p[Bias2]));
  x = at::linear(x, p[Weight3].t(), p[Bias3]);
  return at::cross_entropy_loss(x, batch.at("label"));
}

/// Mesh TensorFlow's Adafactor, for one parameter.
class Adafactor {
 public:
  void update(at::Tensor& parameter, const at::Tensor& gradient, int step) {
    const double next = step + 1, decay = 1 - std::pow(next, -0.8);
    const auto average = [&](at::Tensor& slot, const at::Tensor& value) {
      slot = step == 0 ? value * (1 - decay) : slot * decay + value * (1 - decay);
      return slot;
    };
    const at::Tensor squared = gradient * gradient + 1e-30;
    at::Tensor change;
    if (parameter.dim() == 2 && parameter.size(0) >= 128 && parameter.size(1) >= 128) {
      const at::Tensor r = average(rows_, squared.mean(1, true));
      const at::Tensor c = average(columns_, squared.mean(0, true));
      change = gradient / (r / r.mean() * c).sqrt();
    } else {
      change = gradient / average(all_, squared).sqrt();
    }
    const auto rms = [](const at::Tensor& x) { return x.square().mean().sqrt().item<double>(); };
    change = change / std::max(1.0, rms(change));
    const double rate = std::min(1 / std::sqrt(next), 0.01) * std::max(rms(parameter), 1e-3);
    parameter = (parameter - change * rate).detach();
  }

 private:
  at::Tensor rows_, columns_, all_;
};

struct Ordinary {
  std::vector<at::Tensor> gradients;
  std::vector<double> losses;
};

/// Runs in double precision, with the parameters and batches of `run`.
Ordinary ordinary(const Training& run) {
  Ordinary out;
  std::vector<at::Tensor> parameters;
  for (const at::Tensor& each : run.start) parameters.push_back(each.to(at::kDouble));
  std::vector<Adafactor> optimizers(kParameters);
  for (int step = 0; step < kSteps; ++step) {
    for (at::Tensor& each : parameters) each.requires_grad_(true);
    const at::Tensor loss = ordinary_loss(parameters, run.batches[static_cast<size_t>(step)]);
    loss.backward();
    out.losses.push_back(loss.item<double>());
    for (size_t i = 0; i < parameters.size(); ++i) {
      const at::Tensor gradient = parameters[i].grad();
      if (step == 0) out.gradients.push_back(gradient);
      parameters[i] = parameters[i].detach();
      optimizers[i].update(parameters[i], gradient, step);
    }
  }
  return out;
}

const std::vector<LayoutCase> kLayouts = {{"", ""},
                                          {"x:2", "batch:x"},
                                          {"x:2;y:2", "row_blocks:x;col_blocks:y"},
                                          {"x:2;y:2", "batch:x;hidden1:y"},
                                          {"x:4", "hidden2:x;row_blocks:x"}};

// Tolerances: the reference is fp64, the mesh model fp32 with sums of up to 6,272 terms. The loss
// of one batch within 2e-6 of it, each gradient within 1e-5 of its largest element, and after
// Adafactor's steps, which divide by the gradient's size, losses within 2e-5 (measured:
// 6e-8, 1.5e-6, 2e-7).
constexpr double kLossTolerance = 2e-6, kGradientTolerance = 1e-5, kTrajectoryTolerance = 2e-5;

TEST(MnistModel, LossGradientsAndTrajectoryAreThoseOfAnOrdinaryConvolutionModel) {
  for (const LayoutCase& layout : kLayouts) {
    SCOPED_TRACE(layout.mesh + " " + layout.layout);
    const Training got = trained(layout);
    ASSERT_EQ(got.start.size(), size_t{kParameters});
    ASSERT_EQ(got.losses.size(), size_t{kSteps});
    const Ordinary wanted = ordinary(got);
    EXPECT_NEAR(got.losses[0], wanted.losses[0], kLossTolerance * wanted.losses[0]);
    for (size_t i = 0; i < got.gradients.size(); ++i) {
      const at::Tensor& reference = wanted.gradients[i];
      ASSERT_EQ(got.gradients[i].sizes(), reference.sizes());
      const double largest = reference.abs().max().item<double>();
      EXPECT_GT(largest, 0) << "parameter " << i;
      EXPECT_LT((got.gradients[i].to(at::kDouble) - reference).abs().max().item<double>(),
                kGradientTolerance * largest)
          << "gradient of parameter " << i;
    }
    for (size_t step = 1; step < got.losses.size(); ++step) {
      EXPECT_NEAR(got.losses[step], wanted.losses[step], kTrajectoryTolerance) << "step " << step;
    }
    // The second batch is used four times: the loss must fall.
    EXPECT_LT(wanted.losses.back(), wanted.losses[1] - 0.01);
  }
}

}  // namespace
}  // namespace goban::train::trainer
