// The advisor: batch, precision, overlap and loader threads by short runs, for the least time to a
// given loss within an accuracy tolerance.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "train/trainer/accuracy.hpp"
#include "train/trainer/trials.hpp"

namespace goban::train::trainer {

struct TuneOptions {
  TrainOptions train;  ///< the starting point
  int ranks = 1;
  std::vector<int64_t> batches = {};             ///< to try; empty: half, twice and four times
  std::vector<PrecisionChoice> precisions = {};  ///< to try
  std::vector<mesh::Overlap> overlaps = {};      ///< to try; only with several ranks
  std::vector<int> loader_threads = {};          ///< to try; empty: 0, 1 and 2 for shards
  double tolerance = 0.005;                      ///< of accuracy, below that of the starting point
  double target_loss = 0;                        ///< on the test set; 0: the starting point's last
  int evaluations = 4;                           ///< in an epoch
  double least_gain = 0.03;                      ///< a choice that gains less stays as it is
};

/// One run with one change.
struct TuneRow {
  std::string what, value;  ///< "batch", "200"
  Trial trial;
  std::optional<double> seconds;  ///< to the target loss
  bool taken = false;
  std::string verdict;
};

struct TuneResult {
  std::vector<TuneRow> rows;  ///< the first is the starting point
  TrainOptions best;
  std::string best_precision = "fp32";
  double target_loss = 0, start_s = 0, best_s = 0;
  std::vector<std::string> not_verified;
};

/// Tries one kind of choice after the other, each from the best so far: loader threads, overlap,
/// precision, batch (with a learning rate that grows as the square root), after a warm-up. What
/// equals the best so far is not run. Errors: those of the
/// first run; a later run that fails is a row with its error.
[[nodiscard]] base::Result<TuneResult> tune(const TrialRunner& run, const TuneOptions& options);

/// The runs, the choice as options of the command line, and what was not verified.
[[nodiscard]] std::string tune_text(const TuneResult& result);
[[nodiscard]] std::string tune_json(const TuneResult& result);

}  // namespace goban::train::trainer
