// Writes WebDataset's tar shards: the same bytes as the Python library's TarWriter with a fixed
// mtime. Packed by gzip or zstd if the name says so.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "train/data/sample.hpp"

namespace goban::train::data {

/// The bytes of one member: header (with a PAX header for long or non-ASCII names), content,
/// padding. Owner bigdata, mode 0444, time 0.
[[nodiscard]] std::string tar_member(std::string_view name, std::string_view bytes);

/// Limits of one shard, as of the Python library's ShardWriter.
struct ShardLimits {
  int64_t samples = 100'000;
  int64_t payload_bytes = 3'000'000'000;  ///< content of the members
};

/// Writes samples to numbered shards, and starts a new one when a limit is reached. A shard appears
/// complete or not at all.
class ShardWriter {
 public:
  /// `pattern` has one %d or %0Nd, such as "train-%06d.tar". Errors: Usage for another pattern or
  /// an unknown ending.
  [[nodiscard]] static base::Result<ShardWriter> create(const std::string& pattern,
                                                        ShardLimits limits);
  ~ShardWriter();
  ShardWriter(ShardWriter&&) noexcept;
  ShardWriter& operator=(ShardWriter&&) = delete;

  /// Files that are read from: a shard that would replace one of them is refused.
  void keep(std::vector<std::string> sources);
  /// Errors: Usage for a shard that would replace a kept file; BadData for an unusable key or name,
  /// or one like the previous sample's (readers would join them); Failed for files.
  [[nodiscard]] base::Status add(const Sample& sample);
  /// Ends the last shard. Errors: Failed.
  [[nodiscard]] base::Status finish();
  /// Paths of the shards so far.
  [[nodiscard]] const std::vector<std::string>& paths() const;
  [[nodiscard]] int64_t samples() const;
  /// Samples whose key their shard had before; readers take them for others, `data check` for
  /// errors.
  [[nodiscard]] int64_t repeated() const;
  /// Other shards of the pattern in its folder, as an earlier packing into more shards leaves them;
  /// normal paths, in order.
  [[nodiscard]] std::vector<std::string> left_over() const;

 private:
  struct Impl;
  explicit ShardWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace goban::train::data
