// Options and results of a training run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "train/mesh/optimizer.hpp"
#include "train/mesh/program.hpp"
#include "train/trainer/models/model.hpp"

namespace goban::train::trainer {

/// Treatment of the samples of an epoch that do not fill a batch.
enum class LastBatch : uint8_t { Keep, Drop };

/// Scaling of the learning rate with the batch size; factor 1 at 200.
enum class LrScale : uint8_t { None, Linear, Sqrt };

/// Number of loader threads that a run finds by itself.
inline constexpr int kAutoThreads = -1;

/// How a run gets its batches.
struct Feeding {
  std::string test_data;       ///< shards or token files of the test set
  int threads = kAutoThreads;  ///< that prepare batches ahead; 0: none. Auto: none without shards
                               ///< or a GPU
  int64_t shuffle_buffer = 1000;  ///< samples, for shards
  bool resample = false;          ///< shards are drawn with replacement
  bool skip_corrupt = false;      ///< images that do not decode are replaced and counted
  int token_bytes = 2;            ///< of token files: 2 or 4
};

struct TrainOptions {
  std::string task = "mnist";  ///< mnist, fashion (images) or lm (text)
  std::string model = "conv";  ///< images: conv or mlp; lm: causal or masked
  std::string device = "cpu";  ///< cpu, cuda, cuda:N or auto (mesh::resolve_device)
  /// Layout "auto" lets the planner choose. Without both, the batch is split over all ranks.
  std::string mesh, layout;
  std::string costs;         ///< of the planner (planner_costs.hpp); empty: measured
  int64_t batch_size = 200;  ///< of all devices together
  LastBatch last_batch = LastBatch::Keep;
  int micro_batches = 1;
  int64_t hidden = 512;
  TransformerShape transformer;
  int64_t epochs = 1;
  int64_t most_steps = 0;      ///< ends the run after this number of steps; 0: `epochs` applies
  int64_t evaluate_every = 0;  ///< steps between evaluations; 0: at each epoch's end
  mesh::DType precision = mesh::DType::F32;
  std::vector<mesh::TypeRule> layer_precision;  ///< of layers by name; the first match applies
  double loss_scale = 0;                        ///< for fp16: fixed; 0: found while training
  mesh::Overlap overlap = mesh::Overlap::Off;
  int64_t bucket_bytes = 1 << 20;  ///< maximum of one message, for overlap
  bool bf16_buckets = false;       ///< gradients are sent as bf16, for overlap
  bool tf32 = false;               ///< GPUs may multiply matrices as tf32
  mesh::OptimizerOptions optimizer;
  LrScale lr_scale = LrScale::None;
  uint64_t seed = 1;
  std::string data_dir;  ///< folder of data sets, or shards or token files (names_shards)
  Feeding feeding;
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
