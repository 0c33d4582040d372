// Where samples to pack come from: a folder of files, an IDX set, or other shards.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "train/data/idx.hpp"
#include "train/data/sample.hpp"
#include "train/data/shard_set.hpp"

namespace goban::train::data {

/// Takes one sample. An error ends the source.
using SampleSink = std::function<base::Status(const Sample&)>;

/// The files below a folder, ordered by name, as samples: KEY.FIELD. Files that belong to no sample
/// (split_name) and links are left out; `left_out` counts them. Errors: Failed; those of `sink`,
/// with the file.
[[nodiscard]] base::Status each_in_folder(const std::string& folder, const SampleSink& sink,
                                          int64_t& left_out);

/// Images as fields "pgm", labels as "cls".
[[nodiscard]] base::Status each_in_idx(const IdxArray& images, const IdxArray& labels,
                                       const SampleSink& sink);

/// The samples of shards, in order.
[[nodiscard]] base::Status each_in_shards(const ShardSet& set, const SampleSink& sink);

}  // namespace goban::train::data
