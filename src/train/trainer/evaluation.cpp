#include "train/trainer/evaluation.hpp"

#include <ATen/core/Tensor.h>
#include <algorithm>
#include <numeric>
#include <vector>

#include "base/clock.hpp"

namespace goban::train::trainer {

using namespace mesh;

namespace {

constexpr int64_t kLargestTestBatch = 500;

/// Batch sizes for the test set, best first: fewest samples excluded, then the largest.
std::vector<int64_t> test_batches(int64_t size) {
  std::vector<int64_t> out(static_cast<size_t>(std::min(size, kLargestTestBatch)));
  std::iota(out.begin(), out.end(), int64_t{1});
  std::ranges::sort(out, {}, [size](int64_t batch) { return std::pair(size % batch, -batch); });
  constexpr size_t kTries = 128;
  out.resize(std::min(out.size(), kTries));
  return out;
}

}  // namespace

base::Result<std::unique_ptr<Evaluation>> Evaluation::create(const TrainOptions& options,
                                                             TrainingStep& trained,
                                                             int64_t test_size) {
  std::unique_ptr<Evaluation> best;
  base::Status last = base::usage_error("the test set is empty");
  for (const int64_t batch : test_batches(test_size)) {
    std::unique_ptr<Evaluation> out(new Evaluation);
    out->test_size_ = test_size;
    out->batch_ = batch;
    out->graph_ = std::make_unique<Graph>();
    Layers layers(*out->graph_, options.precision, options.layer_precision);
    const Model model = build_model(options, layers, batch);
    // The optimiser's variables follow the model's, so the model's variables are the first ones of
    // both graphs.
    out->variables_ = std::make_unique<Variables>(*out->graph_, trained.variables());
    auto program = Program::create(*out->variables_, {{model.loss, model.correct}, false, 1});
    if (!program) {
      last = base::failure(program.error());
      continue;
    }
    out->program_ = std::move(*program);
    best = std::move(out);
    if (memory_warning(options, best->program_->plan()).empty()) break;
  }
  if (!best) return base::failure(last.error());
  return best;
}

base::Result<TestValues> Evaluation::run(Batches& batches, DeviceMemory& memory) {
  const int64_t count = test_size_ / batch_;
  double loss = 0, right = 0, predicted = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Feeds feeds = batches.test(i * batch_, batch_);
    const DeviceMemory::Charge charge(memory);
    const double start_s = base::steady_s();
    auto values = program_->run({feeds}, 0);
    if (!values) return base::failure(values.error());
    const double asked = predictions_of(feeds);
    loss += (*values)[0].item<double>() * asked;
    right += (*values)[1].item<double>();  // waits for a GPU
    fastest_per_s_ = std::max(
        fastest_per_s_, static_cast<double>(batch_) / std::max(base::steady_s() - start_s, 1e-9));
    predicted += asked;
  }
  predicted = std::max(predicted, 1.0);  // a small masked set may have no masked token
  return TestValues{loss / predicted, right / predicted};
}

}  // namespace goban::train::trainer
