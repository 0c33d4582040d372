// Writes a store: samples in any order of devices, packed into blocks of a UTC day.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "site/series/month_file.hpp"
#include "site/series/sample.hpp"

namespace goban::site::series {

struct WriterOptions {
  /// Sampling interval. A sample is stored at the nearest multiple of it after the first sample of
  /// its day, so its time is known to half a step.
  uint32_t step_ms = 60'000;
  bool sync = true;  ///< wait until the data is on disk
};

/// What was done with the samples.
struct WriteCounts {
  uint64_t given = 0;
  uint64_t written = 0;        ///< slots with a value or a mark
  uint64_t same_slot = 0;      ///< another sample of the input had the same slot
  uint64_t already_there = 0;  ///< the store already had a sample for that time
  uint64_t out_of_range = 0;   ///< not within [0, code_max * quantum]; not written
  std::string first_out_of_range;
  uint64_t cut_bytes = 0;      ///< of an earlier interrupted write
  uint64_t damaged_bytes = 0;  ///< left in place
};

/// Adds samples to a store; repeating an import changes nothing. The store is locked for the
/// lifetime of the writer: one writer at a time.
class StoreWriter final : public SampleSink {
 public:
  /// Creates the folder. Errors: Failed (I/O, or another writer holds the lock).
  [[nodiscard]] static base::Result<std::unique_ptr<StoreWriter>> open(
      const std::string& store, const WriterOptions& options);
  ~StoreWriter() override;

  /// Errors: Failed (I/O); earlier samples are kept.
  [[nodiscard]] base::Status add(const DeviceKey& device, Metric metric, int64_t time_ms,
                                 Reading reading) override;
  /// Adds consecutive samples of one series: code i is at start_ms + i * step. Times are exact, and
  /// the samples are a block of their own: at most a day, not mixed with add() on the same day.
  /// Codes are values / quantum (at most code_max) or marks.
  [[nodiscard]] base::Status add_codes(const DeviceKey& device, Metric metric, int64_t start_ms,
                                       std::span<const uint16_t> codes);
  /// Writes all samples added so far. Errors: Failed (I/O).
  [[nodiscard]] base::Status finish();

  [[nodiscard]] const WriteCounts& counts() const { return counts_; }

 private:
  /// The current day of a device.
  struct Builder {
    int64_t day = INT64_MIN;
    BlockHead head;
    std::vector<uint16_t> codes;
  };
  using SeriesKey = std::pair<Metric, DeviceKey>;

  StoreWriter(std::string store, const WriterOptions& options)
      : store_(std::move(store)), options_(options) {}
  base::Status lock();
  [[nodiscard]] uint16_t code_of(const DeviceKey& device, const MetricInfo& metric,
                                 Reading reading);
  void place(Builder& builder, int64_t time_ms, uint16_t code);
  base::Status close_block(const SeriesKey& key, Builder& builder);
  base::Result<MonthFile*> month(const MetricInfo& metric, int64_t time_ms);

  std::string store_;
  WriterOptions options_;
  int lock_ = -1;
  std::map<SeriesKey, Builder> builders_;
  const SeriesKey* last_key_ = nullptr;  ///< inputs often have one series at a time
  Builder* last_builder_ = nullptr;
  std::map<std::pair<Metric, int64_t>, MonthFile> months_;
  WriteCounts counts_;
};

}  // namespace goban::site::series
