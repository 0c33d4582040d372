// Images per second of the two MNIST models, and tokens per second of a Transformer, in the
// training loop of goban-train: batches picked from a data set in memory, gradients, updates, loss
// and correct predictions. Under mpirun one rank per process, data parallel; otherwise a table.
// Inputs are random, so no data set is required.
#include <ATen/Parallel.h>
#include <ATen/ops/randint.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "train/comm/launcher.hpp"
#include "train/comm/mpi_world.hpp"
#include "train/comm/nccl_world.hpp"
#include "train/comm/thread_world.hpp"
#include "train/mesh/device.hpp"
#include "train/trainer/batches.hpp"
#include "train/trainer/memory_policy.hpp"
#include "train/trainer/training_step.hpp"

namespace goban::bench {
namespace {

constexpr int64_t kSamples = 12'000;
constexpr int64_t kVocabulary = 256;

struct Wanted {
  std::string model = "mlp", optimizer = "sgd", precision = "fp32";
  int64_t batch = 10;
  double seconds = 2;
  std::string device = "cpu";
};

train::data::ImageSet noise() {
  base::Random random(5);
  train::data::ImageSet set;
  const auto fill = [&](train::data::IdxArray& array, std::vector<int64_t> sizes, uint64_t below) {
    int64_t count = 1;
    for (const int64_t size : sizes) count *= size;
    array.sizes = std::move(sizes);
    array.bytes.resize(static_cast<size_t>(count));
    for (auto& byte : array.bytes) byte = static_cast<uint8_t>(random.below(below));
  };
  fill(set.train_images, {kSamples, 28, 28}, 256);
  fill(set.train_labels, {kSamples}, 10);
  fill(set.test_images, {10, 28, 28}, 256);
  fill(set.test_labels, {10}, 10);
  return set;
}

train::trainer::TrainOptions options_of(const Wanted& wanted, int ranks) {
  using Kind = train::mesh::OptimizerOptions::Kind;
  train::trainer::TrainOptions options;
  options.device = wanted.device;
  if (wanted.model == "lm") {
    options.task = "lm";
    options.model = "causal";
    auto& shape = options.transformer;
    shape.length = 128;
    shape.vocab = kVocabulary;
    shape.d_model = 256;
    shape.heads = 8;
    shape.d_head = 32;
    shape.d_ff = 1024;
    shape.blocks = 4;
  } else {
    options.model = wanted.model;
  }
  options.batch_size = wanted.batch;
  options.precision =
      wanted.precision == "bf16" ? train::mesh::DType::BF16 : train::mesh::DType::F32;
  options.optimizer.kind = wanted.optimizer == "adafactor"  ? Kind::Adafactor
                           : wanted.optimizer == "adamw"    ? Kind::AdamW
                           : wanted.optimizer == "momentum" ? Kind::Momentum
                                                            : Kind::Sgd;
  if (ranks > 1) {
    options.mesh = fmt::format("x:{}", ranks);
    options.layout = "batch:x";
  }
  return options;
}

/// The batch that starts at a sample; text is random and read in windows.
std::function<train::mesh::Feeds(int64_t begin)> source_of(
    const train::trainer::TrainOptions& options) {
  if (options.task != "lm") {
    std::shared_ptr<train::trainer::Batches> images =
        train::trainer::image_batches(noise(), 1, 0, 0);
    return
        [=, batch = options.batch_size](int64_t begin) { return *images->train(0, begin, batch); };
  }
  const int64_t length = options.transformer.length, batch = options.batch_size;
  const at::Tensor text = at::randint(kVocabulary, {kSamples * length + 1}, at::kLong);
  return [=](int64_t begin) -> train::mesh::Feeds {
    const auto windows = [&](int64_t from) {
      return text.narrow(0, from, batch * length).view({batch, length});
    };
    return {{"tokens", windows(begin * length)}, {"targets", windows(begin * length + 1)}};
  };
}

/// Images (lm: tokens) per second of all ranks together, for about `wanted.seconds` after a
/// warm-up.
base::Result<double> images_per_s(const Wanted& wanted, train::comm::Communicator& end) {
  const train::trainer::TrainOptions options = options_of(wanted, end.size());
  const auto device = train::mesh::resolve_device(options.device, end.local_rank());
  if (!device) return base::failure(device.error());
  train::mesh::allow_tf32(wanted.precision == "tf32");
  auto graph = train::trainer::build_step(options);
  if (!graph) return base::failure(graph.error());
  const auto layout = train::trainer::choose(options, **graph, end);
  if (!layout) return base::failure(layout.error());
  train::mesh::DeviceMemory memory(0, *device);
  auto step =
      train::trainer::TrainingStep::create(options, std::move(*graph), *layout, end, memory);
  if (!step) return base::failure(step.error());
  const auto feeds = source_of(options);
  int64_t number = 0;
  const auto run = [&](int64_t steps) -> base::Result<double> {
    const auto start = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < steps; ++i, ++number) {
      const int64_t begin = number * wanted.batch % (kSamples - wanted.batch);
      if (auto s = (*step)->run({feeds(begin)}, number); !s) {
        return base::failure(s.error());
      }
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  // The first steps compile kernels and allocate memory; the estimate uses later ones.
  if (auto cold = run(5); !cold) return cold;
  auto warm = run(2);
  if (!warm) return warm;
  // Rank 0 determines the number of steps, which must be the same on all ranks.
  std::array<double, 1> guess = {std::max(*warm / 2, 1e-6)};
  const auto agreed = end.broadcast(train::comm::whole_world(end.size()),
                                    std::as_writable_bytes(std::span(guess)), 0, "s");
  if (!agreed) return base::failure(agreed.error());
  const auto steps = std::max<int64_t>(3, static_cast<int64_t>(wanted.seconds / guess[0]));
  auto took = run(steps);
  if (!took) return took;
  const int64_t each = options.task == "lm" ? options.transformer.length : 1;
  return static_cast<double>(steps * wanted.batch * each) / *took;
}

int say(const Wanted& wanted, int ranks, const base::Result<double>& rate) {
  if (!rate) {
    fmt::print(stderr, "train_bench: {}\n", rate.error().text());
    return 1;
  }
  fmt::print("{:<5} batch {:>4} {:<9} {:<5} {} ranks {:>9.0f} {}/s\n", wanted.model, wanted.batch,
             wanted.optimizer, wanted.precision, ranks, *rate,
             wanted.model == "lm" ? "tokens" : "images");
  std::fflush(stdout);
  return 0;
}

int alone(const Wanted& wanted) {
  base::Result<double> rate = 0.0;
  const auto status =
      train::comm::run_threads(1, {}, [&](train::comm::Communicator& end) -> base::Status {
        rate = images_per_s(wanted, end);
        return {};
      });
  return status ? say(wanted, 1, rate) : 1;
}

int table() {
  for (const char* model : {"mlp", "conv", "lm"}) {
    const bool text = std::string(model) == "lm";
    for (const int64_t batch : {text ? 4 : 10, text ? 32 : 250}) {
      for (const char* optimizer : {"sgd", "adafactor", "adamw"}) {
        for (const char* precision : {"fp32", "bf16"}) {
          if (alone({model, optimizer, precision, batch, 1.0}) != 0) return 1;
        }
      }
    }
  }
  return 0;
}

int run(int argc, char** argv) {
  train::trainer::keep_memory();
  if (argc == 1) return table();
  if (argc != 6 && argc != 7) {
    fmt::print(stderr,
               "usage: train_bench [mlp|conv|lm BATCH sgd|adafactor|adamw fp32|tf32|bf16 SECONDS "
               "[cpu|cuda]]\nexample: mpirun -n 2 train_bench conv 10 sgd fp32 2\n");
    return 2;
  }
  const Wanted wanted{argv[1],
                      argv[3],
                      argv[4],
                      std::atoll(argv[2]),
                      std::atof(argv[5]),
                      argc == 7 ? argv[6] : "cpu"};
  if (!train::comm::launched_by_mpi()) return alone(wanted);
  auto end = train::comm::start_mpi({});
  if (!end) return 1;
  std::unique_ptr<train::comm::Communicator> gpus;
  if (wanted.device != "cpu" && (*end)->size() > 1) {
    auto started = train::comm::start_nccl(**end, (*end)->local_rank());
    if (!started) (*end)->abandon(started.error().text());
    gpus = std::move(*started);
  }
  const auto rate = images_per_s(wanted, gpus ? *gpus : **end);
  if (!rate) (*end)->abandon(rate.error().message);
  return (*end)->rank() == 0 ? say(wanted, (*end)->size(), rate) : 0;
}

}  // namespace
}  // namespace goban::bench

int main(int argc, char** argv) { return goban::bench::run(argc, argv); }
