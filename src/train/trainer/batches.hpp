// Where batches come from: images of an IDX set, or windows of a text. Deterministic in seed and
// epoch, so that a resumed run and every rank see the same.
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
  /// Samples [begin, begin + count) of the epoch's own order.
  [[nodiscard]] virtual mesh::Feeds train(int64_t epoch, int64_t begin, int64_t count) = 0;
  [[nodiscard]] virtual mesh::Feeds test(int64_t begin, int64_t count) = 0;
};

/// How many predictions a batch asks for: its images, its tokens, or those of them that are masked.
[[nodiscard]] double predictions_of(const mesh::Feeds& feeds);

/// Limits of 0 mean everything.
[[nodiscard]] std::unique_ptr<Batches> image_batches(const data::ImageSet& set, uint64_t seed,
                                                     int64_t train_limit, int64_t test_limit);

/// Bytes of the texts as tokens (vocabulary 256), in windows of `length`; the last tenth is the
/// test set. A masked batch hides 15 % of the tokens (as byte 0) and asks for those.
/// Errors: Failed, for a file that cannot be read; BadData, if there are too few bytes.
[[nodiscard]] base::Result<std::unique_ptr<Batches>> text_batches(
    const std::vector<std::string>& files, int64_t length, bool causal, uint64_t seed,
    int64_t train_limit, int64_t test_limit);

/// The data the options name. Errors: as above, with the command that fetches what is missing.
[[nodiscard]] base::Result<std::unique_ptr<Batches>> open_batches(const TrainOptions& options);

/// The numbers 0 .. n-1 in an order that depends on seed and epoch only.
[[nodiscard]] std::vector<int64_t> epoch_order(int64_t n, uint64_t seed, int64_t epoch);

}  // namespace goban::train::trainer
