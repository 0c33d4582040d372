// Overhead of the mesh layer on one device: its step against the same step written with LibTorch's
// own modules, autograd and optimizers, alternating in one process. In the first table both use the
// tensor library's kernels, so that only the layer differs; in the second the mesh layer uses its
// own kernels. Arguments: optimizers, sgd and adamw (default: both).
#include <ATen/Parallel.h>
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <torch/torch.h>
#include <vector>

#include "train/comm/thread_world.hpp"
#include "train/mesh/matmul.hpp"
#include "train/trainer/memory_policy.hpp"
#include "train/trainer/training_step.hpp"

namespace goban::bench {
namespace {

constexpr int kTurns = 21;
constexpr double kSgdRate = 0.05, kAdamRate = 1e-3;

struct PlainModel : torch::nn::Module {
  explicit PlainModel(bool with_conv) : conv(with_conv) {
    const auto filter = [](int64_t in) {
      return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, 16, 9).padding(4).bias(false));
    };
    if (conv) {
      conv0 = register_module("conv0", filter(1));
      conv1 = register_module("conv1", filter(16));
    }
    hidden1 = register_module("hidden1", torch::nn::Linear(784, 512));
    hidden2 = register_module("hidden2", torch::nn::Linear(512, 512));
    logits = register_module("logits", torch::nn::Linear(512, 10));
  }
  torch::Tensor forward(torch::Tensor x) {
    if (conv) {
      x = torch::relu(conv0->forward(x.view({-1, 1, 28, 28})));
      x = torch::relu(conv1->forward(x)).mean(1).flatten(1);
    }
    x = torch::relu(hidden1->forward(x));
    return logits->forward(torch::relu(hidden2->forward(x)));
  }
  bool conv;
  torch::nn::Conv2d conv0{nullptr}, conv1{nullptr};
  torch::nn::Linear hidden1{nullptr}, hidden2{nullptr}, logits{nullptr};
};

double plain_step(PlainModel& model, torch::optim::Optimizer& optimizer,
                  const train::mesh::Feeds& feeds) {
  for (torch::Tensor each : model.parameters()) each.mutable_grad().reset();
  const torch::Tensor label = feeds.at("label");
  const torch::Tensor out = model.forward(feeds.at("image"));
  torch::Tensor loss = torch::nn::functional::cross_entropy(out, label);
  loss.backward();
  optimizer.step();
  return loss.item<double>() + out.argmax(1).eq(label).sum().item<double>();
}

double seconds_of(int steps, const std::function<void()>& step) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) step();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / steps;
}

std::unique_ptr<torch::optim::Optimizer> plain_optimizer(const std::string& name,
                                                         PlainModel& model) {
  if (name == "adamw") {
    return std::make_unique<torch::optim::AdamW>(model.parameters(),
                                                 torch::optim::AdamWOptions(kAdamRate));
  }
  return std::make_unique<torch::optim::SGD>(model.parameters(), kSgdRate);
}

base::Status compare(const std::string& name, const std::string& rule, int64_t batch,
                     train::comm::Communicator& end) {
  train::trainer::TrainOptions options;
  options.model = name;
  options.batch_size = batch;
  const bool adam = rule == "adamw";
  using Kind = train::mesh::OptimizerOptions::Kind;
  options.optimizer.kind = adam ? Kind::AdamW : Kind::Sgd;
  options.optimizer.learning_rate = adam ? kAdamRate : kSgdRate;
  auto graph = train::trainer::build_step(options);
  if (!graph) return base::failure(graph.error());
  const auto layout = train::trainer::choose(options, **graph, end);
  if (!layout) return base::failure(layout.error());
  train::mesh::DeviceMemory memory(0);
  auto laid_out =
      train::trainer::TrainingStep::create(options, std::move(*graph), *layout, end, memory);
  if (!laid_out) return base::failure(laid_out.error());
  const train::mesh::Feeds feeds = {{"image", torch::rand({batch, 784})},
                                    {"label", torch::randint(0, 10, {batch}, torch::kLong)}};
  int64_t number = 0;
  bool failed = false;
  const auto ours = [&] { failed |= !(*laid_out)->run({feeds}, number++); };
  PlainModel model(name == "conv");
  const auto optimizer = plain_optimizer(rule, model);
  const auto plain = [&] { (void)plain_step(model, *optimizer, feeds); };
  const int steps = std::max(2, static_cast<int>(0.15 / seconds_of(3, plain)));
  (void)seconds_of(3, ours);
  std::vector<double> ratios, a, b;
  for (int turn = 0; turn < kTurns; ++turn) {
    a.push_back(seconds_of(steps, ours));
    b.push_back(seconds_of(steps, plain));
    ratios.push_back(a.back() / b.back());
  }
  if (failed) return base::failed("a step of the mesh layer failed");
  for (auto* all : {&ratios, &a, &b}) std::ranges::sort(*all);
  const size_t middle = kTurns / 2, quarter = kTurns / 4;
  fmt::print(
      "{:<5} {:<5} batch {:>4}  mesh {:>9.1f} us  LibTorch {:>9.1f} us  ratio {:.3f} ({:.3f} to "
      "{:.3f})\n",
      name, rule, batch, a[middle] * 1e6, b[middle] * 1e6, ratios[middle], ratios[quarter],
      ratios[kTurns - 1 - quarter]);
  std::fflush(stdout);
  return {};
}

base::Status all(const std::vector<std::string>& rules, train::comm::Communicator& end) {
  for (const bool own : {false, true}) {
    train::mesh::use_own_kernels(own);
    fmt::print("{}; microseconds per step, ratio: median and quartiles of {} turns, {} threads\n",
               own ? "mesh layer with its own kernels" : "both with LibTorch's kernels", kTurns,
               at::get_num_threads());
    for (const std::string& rule : rules) {
      for (const char* model : {"mlp", "conv"}) {
        for (const int64_t batch : {10, 250}) {
          if (auto s = compare(model, rule, batch, end); !s) return s;
        }
      }
    }
  }
  return {};
}

}  // namespace
}  // namespace goban::bench

int main(int argc, char** argv) {
  goban::train::trainer::keep_memory();
  std::vector<std::string> rules(argv + 1, argv + argc);
  if (rules.empty()) rules = {"sgd", "adamw"};
  const auto status = goban::train::comm::run_threads(
      1, {}, [&](goban::train::comm::Communicator& end) { return goban::bench::all(rules, end); });
  if (!status) fmt::print(stderr, "overhead_bench: {}\n", status.error().text());
  return status ? 0 : 1;
}
