// Options and results of a training run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "train/mesh/optimizer.hpp"
#include "train/trainer/models/model.hpp"

namespace goban::train::trainer {

/// Treatment of the samples of an epoch that do not fill a batch.
enum class LastBatch : uint8_t { Keep, Drop };

/// Scaling of the learning rate with the batch size; factor 1 at 200.
enum class LrScale : uint8_t { None, Linear, Sqrt };

struct TrainOptions {
  std::string task = "mnist";  ///< mnist, fashion (images) or lm (text)
  std::string model = "conv";  ///< images: conv or mlp; lm: causal or masked
  std::string device = "cpu";  ///< cpu, cuda, cuda:N or auto (mesh::resolve_device)
  std::string mesh, layout;    ///< layout "auto" lets the planner choose
  int64_t batch_size = 200;    ///< of all devices together
  LastBatch last_batch = LastBatch::Keep;
  int micro_batches = 1;
  int64_t hidden = 512;
  TransformerShape transformer;
  int64_t epochs = 1;
  int64_t most_steps = 0;      ///< ends the run after this number of steps; 0: `epochs` applies
  int64_t evaluate_every = 0;  ///< steps between evaluations; 0: at each epoch's end
  mesh::DType precision = mesh::DType::F32;
  mesh::OptimizerOptions optimizer;
  LrScale lr_scale = LrScale::None;
  uint64_t seed = 1;
  std::string data_dir;
  std::vector<std::string> texts;
  int64_t train_limit = 0, test_limit = 0;  ///< samples; 0 = all
  std::string checkpoint;                   ///< folder; the run resumes from a checkpoint in it
  std::string out;                          ///< folder of metrics.csv, metrics.prom, profile.json
  bool summaries = false;  ///< record the model's summaries, and norms of gradients and parameters
  bool explain = false;    ///< print the plan and exit
  int64_t memory_limit_bytes = 0;  ///< limit for the tensors of a device
  bool quiet = false;
};

/// Results of one epoch, or of one interval of `evaluate_every` steps.
struct EpochResult {
  int64_t epoch = 0;  ///< epochs begun
  int64_t step = 0;
  double train_loss = 0, test_loss = 0, test_accuracy = 0;
  double train_s = 0, samples_per_s = 0;
  std::vector<std::pair<std::string, double>> summaries = {};  ///< means over the steps, by name
};

}  // namespace goban::train::trainer
