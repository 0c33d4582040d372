// The samples of one part of a data-parallel run, epoch after epoch. All parts shuffle the shards
// alike (seed and epoch), then each takes an equal range of the samples, so that no part starves a
// collective.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "train/data/sample.hpp"
#include "train/data/shard_set.hpp"
#include "train/data/shuffle_order.hpp"

namespace goban::train::data {

struct StreamOptions {
  uint64_t seed = 1;
  bool shuffle_shards = true;
  int64_t shuffle_buffer = 1000;  ///< samples; at most 1: in order
  int64_t part = 0, parts = 1;
  int64_t limit = 0;  ///< samples of all parts; 0 = all
  /// Each part draws shards with replacement, of its own; an epoch has `limit` samples, also more
  /// than there are.
  bool resample = false;
};

/// One thread.
class ShardStream {
 public:
  /// Errors: Usage, if there are fewer samples than parts.
  [[nodiscard]] static base::Result<ShardStream> create(ShardSet set, StreamOptions options);

  /// Samples of an epoch in this part; equal in all parts. The remainder is left out of an epoch.
  [[nodiscard]] int64_t share() const { return share_; }
  /// Goes to a position of an epoch. Reads nothing; the first next() passes over what was given out
  /// before, without reading the bytes where the format permits.
  void seek(int64_t epoch, int64_t position);
  [[nodiscard]] bool at_end() const { return order_->at_end(); }
  /// The next sample of the epoch; not at its end. Errors: those of reading; BadData for a shard
  /// with fewer samples than its index says.
  [[nodiscard]] base::Result<Sample> next();

 private:
  ShardStream(ShardSet set, StreamOptions options);
  static int64_t samples_of(const ShardSet& set, const StreamOptions& options);
  void choose_shards(int64_t epoch);
  base::Status read_until(int64_t wanted);
  base::Result<Sample> read_at(int64_t number);

  ShardSet set_;
  StreamOptions options_;
  int64_t share_ = 0;
  std::vector<size_t> shard_order_;
  std::vector<int64_t> ends_;  ///< samples up to the end of each shard of the order
  std::optional<ShuffleOrder> order_;
  std::map<int64_t, Sample> waiting_;  ///< read, not given out
  std::vector<int64_t> kept_;          ///< waiting numbers at the last seek, ascending
  int64_t resumed_ = 0, next_ = 0;     ///< numbers below `resumed_` are needed only if kept
  std::unique_ptr<ShardReader> reader_;
  size_t open_ = SIZE_MAX;  ///< shard of the order
  int64_t at_ = 0;          ///< samples passed in it
};

}  // namespace goban::train::data
