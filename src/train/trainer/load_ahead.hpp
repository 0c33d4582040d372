// Prepares the batches of a run ahead of their use, with threads.
#pragma once

#include <memory>

#include "train/trainer/batches.hpp"
#include "train/trainer/options.hpp"

namespace goban::train::trainer {

/// The same batches in the same order, taken and finished by `options.feeding.threads` threads
/// while the run computes. Auto: one thread, and another as long as the run waits more than 1 % of
/// its time and the last one shortened that. The threads also send the feeds to `device`, several
/// batches ahead of their use.
[[nodiscard]] std::unique_ptr<Batches> load_ahead(std::unique_ptr<Batches> source,
                                                  const TrainOptions& options,
                                                  c10::Device device = c10::kCPU);

/// A request of a run: samples [begin, begin + count) of an epoch.
struct FeedRequest {
  int64_t epoch = 0, begin = 0, count = 0;
  friend bool operator==(const FeedRequest&, const FeedRequest&) = default;
};
/// The request that follows in a run with these options and `size` samples.
[[nodiscard]] FeedRequest request_after(const FeedRequest& at, const TrainOptions& options,
                                        int64_t size);

}  // namespace goban::train::trainer
