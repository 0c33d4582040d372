// Batches of images from shards (train/data).
#pragma once

#include <memory>

#include "train/trainer/batches.hpp"

namespace goban::train::trainer {

/// Images (a field jpg, jpeg, png or pgm of 28x28 pixels) and labels (the field cls, 0 to 9) of the
/// shards `options.data_dir`. A rank reads its part alone, as it goes; the test set, which all
/// evaluate, is read at the start. Errors: those of shards; Usage without test shards.
[[nodiscard]] base::Result<std::unique_ptr<Batches>> shard_images(const TrainOptions& options,
                                                                  FedPart part);

}  // namespace goban::train::trainer
