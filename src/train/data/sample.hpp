// A training sample as stored in shards: a key and named fields (WebDataset's rules for names).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::train::data {

struct Field {
  std::string name;  ///< "jpg", "cls", "seg.png"
  std::string bytes;
};

struct Sample {
  std::string key;
  std::vector<Field> fields;
  std::string shard;   ///< path of the file it came from
  int64_t offset = 0;  ///< of its first byte in that file, unpacked
  /// nullptr if absent.
  [[nodiscard]] const std::string* find(std::string_view name) const;
  /// `shard, sample 'key' at byte N`, for messages.
  [[nodiscard]] std::string place() const;
};

struct MemberName {
  std::string_view key, field;
};
/// Splits a member's name at the first dot of its last part, as WebDataset does: "a.b/c.seg.png" is
/// field "seg.png" of "a.b/c". nullopt if it is not part of a sample: without a dot or a stem, or
/// metadata (`__name__` or a path that begins with it).
[[nodiscard]] std::optional<MemberName> split_name(std::string_view name);

/// Errors: BadData, for a name that could leave a folder ("..", a leading slash) or contains
/// control characters.
[[nodiscard]] base::Status check_name(std::string_view name, const std::string& shard,
                                      int64_t offset);

/// Reads the samples of one shard in order. One thread.
class ShardReader {
 public:
  virtual ~ShardReader() = default;
  /// False at the end. Errors: Failed (I/O); BadData for damaged shards and duplicate fields; both
  /// name shard and offset.
  [[nodiscard]] virtual base::Result<bool> next(Sample& sample) = 0;
  /// Passes over one sample without reading its bytes, where the format permits. False at the end.
  [[nodiscard]] virtual base::Result<bool> skip() = 0;
  /// The same, and `sum` becomes a checksum of itself, the sample's names and sizes, and the first
  /// kSummedBytes of each field.
  [[nodiscard]] virtual base::Result<bool> glance(uint32_t& sum) = 0;
};

/// What a disk reads at once anyway; images and labels are seldom larger.
inline constexpr size_t kSummedBytes = size_t{64} << 10;

/// Formats of shards, by the name of the file.
enum class ShardFormat : uint8_t { Tar, TfRecord };
/// nullopt for other names. Tar: .tar .tgz .tar.gz .tar.zst; TFRecord: .tfrecord .tfrecords, also
/// with .gz.
[[nodiscard]] std::optional<ShardFormat> shard_format(std::string_view path);

inline constexpr size_t kLargestField = size_t{4} << 30;  ///< bytes of one member

/// Errors: Usage for another name; Failed if it cannot be opened.
[[nodiscard]] base::Result<std::unique_ptr<ShardReader>> open_shard(const std::string& path);

}  // namespace goban::train::data
