// Checks shards against their index and against themselves.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "train/data/shard_set.hpp"

namespace goban::train::data {

struct ShardFindings {
  int64_t samples = 0, bytes = 0;   ///< read; bytes of the fields
  std::vector<base::Error> errors;  ///< with shard and offset
  /// As text: fields that some samples lack, keys that occur in several shards.
  std::vector<std::string> warnings;
};

/// Reads every shard to its end, tars twice: structure, names, equal fields in all samples, images
/// that decode, and size, number of samples and MD5 as in the index. Goes on with the next shard
/// after an error of structure.
[[nodiscard]] ShardFindings check_shards(const ShardSet& set);

}  // namespace goban::train::data
