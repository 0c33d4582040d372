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
  /// Of what ShardReader::glance sees of its samples; 0 = unknown.
  uint32_t sum = 0;
};

struct ShardSet {
  std::string name;
  std::vector<Shard> shards;
  [[nodiscard]] int64_t samples() const;
  /// Of names, sizes and counts, and of each shard's MD5, without one its sum: equal on ranks that
  /// have the same set.
  [[nodiscard]] uint32_t checksum() const;
};

/// A wids index (kind wids-shard-index-v1). Paths are written relative to `folder` if they are in
/// it.
[[nodiscard]] std::string to_wids(const ShardSet& set, const std::string& folder);
/// Paths that are not absolute are relative to `folder`. Errors: BadData, naming the field.
[[nodiscard]] base::Result<ShardSet> from_wids(std::string_view text, const std::string& folder,
                                               const std::string& file);

/// Counts the samples of a shard from its headers and sums what glance() sees. Errors: those of
/// reading.
[[nodiscard]] base::Status count_samples(Shard& shard);
/// An index says another number of samples than the shard has.
[[nodiscard]] base::Error other_count(const std::string& path, int64_t samples, int64_t told);
/// Sums the shards that have neither MD5 nor sum. Errors: those of reading; BadData for a number of
/// samples that is not that of the index.
[[nodiscard]] base::Status sum_contents(ShardSet& set);
/// Counts the samples of all shards that were not counted yet, also of those with an MD5, and sums
/// those without. For sets that are read whole. Errors: as of sum_contents().
[[nodiscard]] base::Status check_counts(ShardSet& set);
/// Size, number of samples and MD5 of a shard. Cost: reads it twice.
[[nodiscard]] base::Result<Shard> describe_shard(const std::string& path);

/// Adds shards to the index `path`, which need not exist: entries of the same path are replaced,
/// those of missing files and of `left_over` (ShardWriter::left_over) removed. Cost: reads the
/// shards twice. Errors: those of reading and writing.
[[nodiscard]] base::Status add_to_index(const std::string& path,
                                        const std::vector<std::string>& shards,
                                        const std::vector<std::string>& left_over);

/// Opens what a user names: a list of shards (expand_shards), or a wids index (a path that ends in
/// .json). Shards of a list without index are counted; `index.json` in the folder of the first is
/// used if it describes all of them with their sizes. Errors: Usage and Failed, naming the shard;
/// BadData for a shard whose size is not that of the index, and for an empty set.
[[nodiscard]] base::Result<ShardSet> open_shards(const std::string& text);

}  // namespace goban::train::data
