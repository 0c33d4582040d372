// Use that a job made of each of its GPUs, from the series in a store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "site/series/reduce.hpp"
#include "site/series/store_reader.hpp"

namespace goban::site::series {

/// The properties of a job that series need.
struct SeriesJob {
  std::string id;
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  std::vector<DeviceKey> devices;  ///< allocated to it
};

struct ValueOptions {
  TrimRule trim{};
  /// A GPU is busy if its trimmed maximum reaches this (percent; condition 5 of the ABCI paper).
  double busy_at = 5;
  /// Below this coverage, or with fewer samples, a GPU is not classified as idle.
  double coverage_min = 0.5;
  uint64_t samples_min = 1;
  /// Sampling steps excluded at the start and at the end of a job: on shared nodes a late sample
  /// may belong to the previous or next job.
  uint32_t skip_first = 0;
  uint32_t skip_last = 0;
  /// Maximum delay of samples (a text file waits up to 60 s for its scrape): the first delay_ms of
  /// a job are excluded, as their samples may belong to the previous job.
  int64_t delay_ms = 0;
  bool include_start = true;  ///< include a sample exactly at the start
  bool include_end = true;
};

/// What is known about a GPU of a job.
enum class Finding : uint8_t {
  Known,         ///< enough samples
  LowCoverage,   ///< some samples, too few
  NotAvailable,  ///< sampled, but the GPU has no such value (MIG)
  NoSamples,     ///< the GPU is in the store, but has no sample in this period
  NoSeries,      ///< the GPU is not in the store
};

/// Busy requires one valid sample; Idle requires coverage. All other cases are Unknown, never Idle.
enum class Activity : uint8_t { Busy, Idle, Unknown };

[[nodiscard]] std::string_view name(Finding finding);
[[nodiscard]] std::string_view name(Activity activity);

struct DeviceValues {
  std::optional<Reduction> values;  ///< none without a valid sample
  Finding finding = Finding::NoSeries;
  Activity activity = Activity::Unknown;
  uint64_t expected = 0;  ///< number of samples that the run time should have, at least 1
  uint64_t not_available = 0;
  uint64_t stale = 0;
  uint64_t missing = 0;  ///< expected, but neither a value nor a mark
  double coverage = 0;   ///< values / expected, at most 1
  uint64_t damaged_blocks = 0;
};

/// Number of GPUs of jobs by finding.
struct ValueCounts {
  uint64_t jobs = 0;
  uint64_t devices = 0;
  uint64_t by_finding[5] = {};
  uint64_t by_activity[3] = {};
  uint64_t samples = 0;

  void add(const std::vector<DeviceValues>& job);
};

/// Computes jobs one by one; reuses its buffers.
class JobValues {
 public:
  JobValues(const StoreReader& store, ValueOptions options);

  /// One entry for each device of the job, in its order. The window is [start + delay, end], its
  /// ends as set in the options, without the skipped steps.
  [[nodiscard]] std::vector<DeviceValues> of(const SeriesJob& job);

 private:
  [[nodiscard]] DeviceValues of(const DeviceKey& device, int64_t start_ms, int64_t end_ms);

  const StoreReader* store_;
  ValueOptions options_;
  CodeCounts counts_;
};

}  // namespace goban::site::series
