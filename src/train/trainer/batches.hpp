// Sources of batches: images of an IDX set, or windows of a text. Deterministic in seed and epoch,
// so that a resumed run and every rank get the same batches.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "train/data/idx.hpp"
#include "train/mesh/plan.hpp"
#include "train/mesh/program.hpp"
#include "train/trainer/options.hpp"

namespace goban::train::trainer {

/// The part of each batch that a rank reads: rows [part, part + 1) / parts of it.
struct FedPart {
  int64_t part = 0, parts = 1;
};
/// The part of a rank: its coordinate on the mesh axis that splits the batch.
[[nodiscard]] FedPart fed_part(const mesh::Plan& plan);

/// What the preparation of training feeds took so far.
struct Preparing {
  size_t threads = 0;             ///< that prepare ahead; 0: the rank itself
  double read_s = 0, busy_s = 0;  ///< over all threads: taking; taking and finishing
  int64_t read_bytes = 0;         ///< of samples from shards
  double sent_s = 0;              ///< of busy_s: copying to the memory of a device
  int64_t sent_bytes = 0;
};

/// Feeds, and the number of samples among them that did not decode and were replaced.
struct Fed {
  mesh::Feeds feeds;
  int64_t replaced = 0;
};

/// Feeds of a model, by position in an epoch. Training feeds hold the rank's part of the batch,
/// test feeds the whole of it.
class Batches {
 public:
  virtual ~Batches() = default;
  [[nodiscard]] virtual int64_t train_size() const = 0;
  [[nodiscard]] virtual int64_t test_size() const = 0;
  /// Finishes the feeds that `take` began. It runs on any thread while the Batches exist.
  using Finish = std::function<base::Result<Fed>()>;
  /// Begins the feeds of samples [begin, begin + count) in the order of the epoch; `count` is
  /// divisible by the number of parts. One thread at a time. Errors: those of reading.
  [[nodiscard]] virtual base::Result<Finish> take(int64_t epoch, int64_t begin, int64_t count) = 0;
  /// The feeds of these samples, which the run now trains on.
  [[nodiscard]] virtual base::Result<mesh::Feeds> train(int64_t epoch, int64_t begin,
                                                        int64_t count);
  [[nodiscard]] virtual mesh::Feeds test(int64_t begin, int64_t count) = 0;
  /// Checksums of the samples in use, in the order of the files. Cost: reads all of them, or their
  /// index.
  [[nodiscard]] virtual uint32_t train_checksum() const = 0;
  [[nodiscard]] virtual uint32_t test_checksum() const = 0;
  /// Parts into which the feeds of `train` are split.
  [[nodiscard]] virtual int64_t parts() const { return 1; }
  /// What, besides seed and data, determines the order of the samples; empty: nothing.
  [[nodiscard]] virtual std::string order() const { return {}; }
  /// Time that `train` has waited for feeds that are prepared ahead; nullopt if it prepares them.
  [[nodiscard]] virtual std::optional<double> waited_s() const { return std::nullopt; }
  [[nodiscard]] virtual Preparing preparing() const { return {}; }
  /// Samples that could not be decoded and were replaced, of the feeds that `train` gave out.
  [[nodiscard]] int64_t skipped() const { return skipped_; }

 protected:
  mesh::Feeds given_out(Fed fed) {
    skipped_ += fed.replaced;
    return std::move(fed.feeds);
  }

 private:
  int64_t skipped_ = 0;
};

/// Number of predictions of a batch: its images, its tokens, or its masked tokens.
[[nodiscard]] double predictions_of(const mesh::Feeds& feeds);

/// Limits of 0 mean everything.
[[nodiscard]] std::unique_ptr<Batches> image_batches(const data::ImageSet& set, uint64_t seed,
                                                     int64_t train_limit, int64_t test_limit,
                                                     FedPart part = {});

/// Bytes of the texts as tokens (vocabulary 256), in windows of `length`; the last tenth is the
/// test set. A masked batch hides 15 % of the tokens (as byte 0) and predicts those. Errors:
/// Failed, for a file that cannot be read; BadData, if there are too few bytes.
[[nodiscard]] base::Result<std::unique_ptr<Batches>> text_batches(
    const std::vector<std::string>& files, int64_t length, bool causal, uint64_t seed,
    int64_t train_limit, int64_t test_limit, FedPart part = {});

/// The same with tokens of files (data::read_tokens), for training and, if given, for testing.
[[nodiscard]] base::Result<std::unique_ptr<Batches>> token_batches(const TrainOptions& options,
                                                                   FedPart part);

/// True if `data` names shards or token files and not a folder of data sets.
[[nodiscard]] bool names_shards(const std::string& data);

/// Opens the data of the options. Feeds that are prepared ahead are sent to `device`; for a GPU,
/// they are by default. Errors: as above, with the command that fetches missing data.
[[nodiscard]] base::Result<std::unique_ptr<Batches>> open_batches(const TrainOptions& options,
                                                                  FedPart part = {},
                                                                  c10::Device device = c10::kCPU);

/// The integers 0 .. n-1 in an order that depends on seed and epoch only.
[[nodiscard]] std::vector<int64_t> epoch_order(int64_t n, uint64_t seed, int64_t epoch);

}  // namespace goban::train::trainer
