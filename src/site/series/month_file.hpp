// One file of a store, open for appending.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "site/series/block.hpp"
#include "site/series/sample.hpp"

namespace goban::site::series {

/// Appends complete records. A record that was torn by a crash is truncated when the file is opened
/// the next time.
class MonthFile {
 public:
  /// Opens or creates. Errors: Failed (I/O), BadData (a file of another format).
  [[nodiscard]] static base::Result<MonthFile> open(const std::string& path,
                                                    const MetricInfo& metric, uint32_t step_ms);
  MonthFile(MonthFile&& other) noexcept;
  MonthFile& operator=(MonthFile&&) = delete;
  ~MonthFile();

  /// Slots of `codes` whose time already has a value in the file become Missing; returns their
  /// number. Errors: Failed (I/O).
  [[nodiscard]] base::Result<uint64_t> drop_known(const DeviceKey& device, const BlockHead& head,
                                                  std::span<uint16_t> codes) const;
  /// Adds a block (head.series is set here). It is in the file after flush().
  [[nodiscard]] base::Status append(const DeviceKey& device, BlockHead head,
                                    std::span<const uint16_t> codes);
  /// Writes the appended blocks; with `sync` they survive a power failure. Errors: Failed (disk
  /// full).
  [[nodiscard]] base::Status flush(bool sync);

  /// Torn bytes that were truncated when the file was opened.
  [[nodiscard]] size_t cut_bytes() const { return cut_bytes_; }
  [[nodiscard]] size_t damaged_bytes() const { return damaged_bytes_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  /// Position of a block in the file (or after its end, in pending_).
  struct Place {
    BlockHead head;
    size_t offset = 0;
    size_t bytes = 0;
  };
  MonthFile(std::string path, const MetricInfo& metric)
      : path_(std::move(path)), metric_(&metric) {}
  base::Status load(uint32_t step_ms);
  void take_record(std::span<const uint8_t> file, size_t offset, size_t bytes);
  [[nodiscard]] base::Result<std::vector<uint16_t>> read_block(const Place& place) const;
  [[nodiscard]] base::Status problem(const char* what) const;

  std::string path_;
  const MetricInfo* metric_;
  int file_ = -1;
  size_t written_ = 0;
  std::string pending_;
  std::map<DeviceKey, uint32_t> numbers_;
  std::vector<std::vector<Place>> blocks_;  ///< by series
  size_t cut_bytes_ = 0;
  size_t damaged_bytes_ = 0;
};

}  // namespace goban::site::series
