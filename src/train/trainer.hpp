// One training run on one rank: builds the model, checks its layout, trains, evaluates, saves.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "comm/communicator.hpp"
#include "mesh/optimizer.hpp"
#include "train/models/model.hpp"

namespace goban::train {

struct TrainOptions {
  std::string task = "mnist";  ///< mnist, fashion (images) or lm (text)
  std::string model = "conv";  ///< images: conv or mlp; lm: causal or masked
  std::string mesh, layout;    ///< layout "auto" lets the planner choose
  int64_t batch_size = 200;    ///< of all devices together
  int micro_batches = 1;
  int64_t hidden = 512;
  TransformerShape transformer;
  int64_t epochs = 1;
  mesh::DType precision = mesh::DType::F32;
  mesh::OptimizerOptions optimizer;
  uint64_t seed = 1;
  std::string data_dir;
  std::vector<std::string> texts;
  int64_t train_limit = 0, test_limit = 0;  ///< samples; 0 = all
  std::string checkpoint;                   ///< folder; resumed from if it holds one
  std::string out;       ///< folder of metrics.csv, metrics.prom and profile.json
  bool explain = false;  ///< print the plan and stop
  int64_t memory_limit_bytes = 0;
  bool quiet = false;
};

/// What one epoch brought.
struct EpochResult {
  int64_t epoch = 0, step = 0;
  double train_loss = 0, test_loss = 0, test_accuracy = 0;
  double train_s = 0, samples_per_s = 0;
};

/// Set by a signal handler: the run saves and leaves at the next agreed step.
extern std::atomic<bool> stop_requested;

/// Trains; every rank calls it with equal options. Rank 0 prints and writes files.
/// Errors: Usage for options and layouts; Failed for a loss that is no number (the last checkpoint
/// stays), for files, and for lost ranks.
[[nodiscard]] base::Result<std::vector<EpochResult>> train(const TrainOptions& options,
                                                           comm::Communicator& end);

}  // namespace goban::train
