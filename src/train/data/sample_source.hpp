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

/// What belongs to no sample of a folder.
struct LeftOut {
  int64_t unnamed = 0;  ///< files whose names are not KEY.FIELD (split_name)
  int64_t others = 0;   ///< links to folders or to nothing, pipes, sockets, devices
};

/// The files below a folder and those that links in it name, ordered by name, as samples:
/// KEY.FIELD. Links to folders are not followed. Errors: Failed; those of `sink`,
/// with the file.
[[nodiscard]] base::Status each_in_folder(const std::string& folder, const SampleSink& sink,
                                          LeftOut& left_out);

/// Images as fields "pgm", labels as "cls".
[[nodiscard]] base::Status each_in_idx(const IdxArray& images, const IdxArray& labels,
                                       const SampleSink& sink);

/// The samples of shards, in order.
[[nodiscard]] base::Status each_in_shards(const ShardSet& set, const SampleSink& sink);

}  // namespace goban::train::data
