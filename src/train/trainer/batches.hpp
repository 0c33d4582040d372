// Sources of batches: images of an IDX set, or windows of a text. Deterministic in seed and epoch,
// so that a resumed run and every rank get the same batches.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "train/data/idx.hpp"
#include "train/mesh/program.hpp"
#include "train/trainer/options.hpp"

namespace goban::train::trainer {

/// Feeds of a model, by position in an epoch.
class Batches {
 public:
  virtual ~Batches() = default;
  [[nodiscard]] virtual int64_t train_size() const = 0;
  [[nodiscard]] virtual int64_t test_size() const = 0;
  /// Samples [begin, begin + count) in the order of the epoch.
  [[nodiscard]] virtual mesh::Feeds train(int64_t epoch, int64_t begin, int64_t count) = 0;
  [[nodiscard]] virtual mesh::Feeds test(int64_t begin, int64_t count) = 0;
};

/// Number of predictions of a batch: its images, its tokens, or its masked tokens.
[[nodiscard]] double predictions_of(const mesh::Feeds& feeds);

/// Limits of 0 mean everything.
[[nodiscard]] std::unique_ptr<Batches> image_batches(const data::ImageSet& set, uint64_t seed,
                                                     int64_t train_limit, int64_t test_limit);

/// Bytes of the texts as tokens (vocabulary 256), in windows of `length`; the last tenth is the
/// test set. A masked batch hides 15 % of the tokens (as byte 0) and predicts those. Errors:
/// Failed, for a file that cannot be read; BadData, if there are too few bytes.
[[nodiscard]] base::Result<std::unique_ptr<Batches>> text_batches(
    const std::vector<std::string>& files, int64_t length, bool causal, uint64_t seed,
    int64_t train_limit, int64_t test_limit);

/// Opens the data of the options. Errors: as above, with the command that fetches missing data.
[[nodiscard]] base::Result<std::unique_ptr<Batches>> open_batches(const TrainOptions& options);

/// The integers 0 .. n-1 in an order that depends on seed and epoch only.
[[nodiscard]] std::vector<int64_t> epoch_order(int64_t n, uint64_t seed, int64_t epoch);

}  // namespace goban::train::trainer
