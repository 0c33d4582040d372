// Reads a store: <store>/<metric>/<YYYY-MM>.series, one file per month with all devices.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "site/series/block.hpp"
#include "site/series/mapped_file.hpp"
#include "site/series/record.hpp"
#include "site/series/sample.hpp"

namespace goban::site::series {

inline constexpr uint32_t kFormatVersion = 1;

/// The first record of a file.
struct FileHeader {
  uint32_t version = kFormatVersion;
  std::string metric;
  double quantum = 1;
  uint32_t step_ms = 0;  ///< nominal; of the writer that created the file
};
[[nodiscard]] std::string encode(const FileHeader& header);
[[nodiscard]] std::optional<FileHeader> decode_header(std::span<const uint8_t> payload);
[[nodiscard]] std::string encode(uint32_t series, const DeviceKey& device);

/// A block in a file.
struct BlockRef {
  BlockHead head;
  Record record;
  mutable bool checked = false;  ///< the checksum was verified
};

/// All blocks of one device.
struct Track {
  DeviceKey device;
  std::vector<BlockRef> blocks;  ///< by start
  bool overlaps = false;         ///< two blocks overlap in time: a backfill
};

/// Damage in the files of a store; no samples are read from it.
struct StoreDamage {
  std::string file;
  size_t torn_bytes = 0;     ///< an interrupted write; the next import truncates it
  size_t damaged_bytes = 0;  ///< in the middle of the file
};

/// Result of reading samples.
struct VisitResult {
  uint64_t slots = 0;           ///< within blocks
  uint64_t damaged_blocks = 0;  ///< skipped: their samples count as missing
  uint32_t step_ms = 0;         ///< of the last block visited; 0 if there was none
};

/// One metric of a store. Not thread-safe. Files are mapped: data appended after opening is not
/// visible.
class StoreReader {
 public:
  /// Opens the files of months that overlap [from_ms, to_ms]. A metric without files gives an empty
  /// reader. Errors: Failed (I/O), BadData (another format or version).
  [[nodiscard]] static base::Result<StoreReader> open(const std::string& store, Metric metric,
                                                      int64_t from_ms = INT64_MIN,
                                                      int64_t to_ms = INT64_MAX);
  /// Several stores as one.
  [[nodiscard]] static base::Result<StoreReader> open(std::span<const std::string> stores,
                                                      Metric metric, int64_t from_ms = INT64_MIN,
                                                      int64_t to_ms = INT64_MAX);
  /// A single month file. Errors: those of open().
  [[nodiscard]] static base::Result<StoreReader> open_file(const std::string& path, Metric metric);
  StoreReader(StoreReader&&) = default;
  StoreReader& operator=(StoreReader&&) = default;
  ~StoreReader() = default;

  [[nodiscard]] const MetricInfo& metric() const { return *metric_; }
  [[nodiscard]] uint32_t step_ms() const { return step_ms_; }
  [[nodiscard]] const std::deque<Track>& tracks() const { return tracks_; }
  [[nodiscard]] const std::vector<StoreDamage>& damage() const { return damage_; }
  [[nodiscard]] size_t file_bytes() const { return file_bytes_; }
  /// The tracks of a device: by UUID if both sides have one, otherwise by node and index. Several
  /// if the GPU at that index was replaced, or if inputs had different labels. A node that is not
  /// found by its name is searched by name without domain, if that is unambiguous.
  [[nodiscard]] std::vector<const Track*> find(const DeviceKey& device) const;

  /// Adds the samples of [from_ms, to_ms], both inclusive, to the counts.
  VisitResult count(std::span<const Track* const> tracks, int64_t from_ms, int64_t to_ms,
                    CodeCounts& counts) const;
  /// The samples themselves, by time. Where blocks overlap, one code per time is kept.
  struct Code {
    int64_t time_ms = 0;
    uint16_t code = 0;
  };
  VisitResult read(std::span<const Track* const> tracks, int64_t from_ms, int64_t to_ms,
                   std::vector<Code>& out) const;
  /// A block's view; its checksum is verified at the first use. None if it is damaged.
  [[nodiscard]] static std::optional<BlockView> view(const BlockRef& block);

 private:
  StoreReader() = default;
  base::Status add_file(const std::string& path);
  void finish();
  [[nodiscard]] const std::vector<const Track*>* at_place(const DeviceKey& device) const;

  const MetricInfo* metric_ = nullptr;
  uint32_t step_ms_ = 0;
  size_t file_bytes_ = 0;
  std::vector<MappedFile> files_;
  std::deque<Track> tracks_;
  std::map<DeviceKey, Track*> by_device_;
  std::map<std::string, std::vector<const Track*>, std::less<>> by_uuid_;
  std::map<std::pair<std::string, std::string>, std::vector<const Track*>> by_place_;
  std::map<std::string, std::string, std::less<>> full_names_;  ///< by name without domain
  std::vector<StoreDamage> damage_;
};

/// Months with a file, ascending, as (first millisecond, path).
[[nodiscard]] base::Result<std::vector<std::pair<int64_t, std::string>>> month_files(
    const std::string& store, Metric metric);
/// First millisecond of the month (UTC) of a time, and the file's name "2019-04.series".
[[nodiscard]] int64_t month_of(int64_t time_ms);
[[nodiscard]] std::string month_name(int64_t time_ms);

}  // namespace goban::site::series
