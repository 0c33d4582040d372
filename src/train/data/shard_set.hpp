// A set of shards with the number of samples in each, from a wids index or by counting.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::train::data {

struct Shard {
  std::string path;
  int64_t samples = 0;
  int64_t bytes = 0;  ///< of the file; 0 = unknown
  std::string md5;    ///< empty = unknown
};

struct ShardSet {
  std::string name;
  std::vector<Shard> shards;
  [[nodiscard]] int64_t samples() const;
  /// Of names, sizes, counts and checksums: equal on ranks that have the same set.
  [[nodiscard]] uint32_t checksum() const;
};

/// A wids index (kind wids-shard-index-v1). Paths are written relative to `folder` if they are in
/// it.
[[nodiscard]] std::string to_wids(const ShardSet& set, const std::string& folder);
/// Paths that are not absolute are relative to `folder`. Errors: BadData, naming the field.
[[nodiscard]] base::Result<ShardSet> from_wids(std::string_view text, const std::string& folder,
                                               const std::string& file);

/// Counts the samples of a shard from its headers. Errors: those of reading.
[[nodiscard]] base::Result<int64_t> count_samples(const std::string& path);
/// Size, number of samples and MD5 of a shard. Cost: reads it twice.
[[nodiscard]] base::Result<Shard> describe_shard(const std::string& path);

/// Opens what a user names: a list of shards (expand_shards), or a wids index (a path that ends in
/// .json). Shards of a list without index are counted; `index.json` in the folder of the first is
/// used if it describes all of them with their sizes. Errors: Usage and Failed, naming the shard;
/// BadData for a shard whose size is not that of the index, and for an empty set.
[[nodiscard]] base::Result<ShardSet> open_shards(const std::string& text);

}  // namespace goban::train::data
