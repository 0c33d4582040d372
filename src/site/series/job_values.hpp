// What a job did with each of its GPUs, from the series in a store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "site/series/reduce.hpp"
#include "site/series/store_reader.hpp"

namespace goban::site::series {

/// A job as far as series matter.
struct SeriesJob {
  std::string id;
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  std::vector<DeviceKey> devices;  ///< allocated to it
};

struct ValueOptions {
  TrimRule trim{};
  /// A GPU counts as busy if its trimmed maximum reaches this (percent; the paper's condition 5).
  double busy_at = 5;
  /// Below this coverage, or with fewer samples, nothing is said about idleness.
  double coverage_min = 0.5;
  uint64_t samples_min = 1;
  /// Sampling steps left out at the start and at the end of a job: on shared nodes a late sample
  /// may belong to the neighbour in time.
  uint32_t skip_first = 0;
  uint32_t skip_last = 0;
  /// Samples may be so late (a text file waits up to 60 s for its scrape): the first delay_ms of a
  /// job are left out, as their samples may tell of the job before.
  int64_t delay_ms = 0;
  bool include_start = true;  ///< a sample exactly at the start counts
  bool include_end = true;
};

/// What is known about a GPU of a job.
enum class Finding : uint8_t {
  Known,         ///< enough samples
  LowCoverage,   ///< some samples, too few
  NotAvailable,  ///< it was sampled, but has no such value (MIG)
  NoSamples,     ///< the store knows the GPU, but has no sample of that time
  NoSeries,      ///< the store does not know the GPU
};

/// Busy needs one good sample; Idle needs coverage. Everything else is Unknown, never Idle.
enum class Activity : uint8_t { Busy, Idle, Unknown };

[[nodiscard]] std::string_view name(Finding finding);
[[nodiscard]] std::string_view name(Activity activity);

struct DeviceValues {
  std::optional<Reduction> values;  ///< none without a single value
  Finding finding = Finding::NoSeries;
  Activity activity = Activity::Unknown;
  uint64_t expected = 0;  ///< samples that the run time should have given, at least 1
  uint64_t not_available = 0;
  uint64_t stale = 0;
  uint64_t missing = 0;  ///< expected, but neither a value nor a mark
  double coverage = 0;   ///< values / expected, at most 1
  uint64_t damaged_blocks = 0;
};

/// How many GPUs of jobs each finding has.
struct ValueCounts {
  uint64_t jobs = 0;
  uint64_t devices = 0;
  uint64_t by_finding[5] = {};
  uint64_t by_activity[3] = {};
  uint64_t samples = 0;

  void add(const std::vector<DeviceValues>& job);
};

/// Computes values of jobs one by one; keeps its scratch memory between them.
class JobValues {
 public:
  JobValues(const StoreReader& store, ValueOptions options);

  /// One entry for each device of the job, in its order. The window is [start + delay, end], with
  /// its ends as the options say, less the skipped steps.
  [[nodiscard]] std::vector<DeviceValues> of(const SeriesJob& job);

 private:
  [[nodiscard]] DeviceValues of(const DeviceKey& device, int64_t start_ms, int64_t end_ms);

  const StoreReader* store_;
  ValueOptions options_;
  CodeCounts counts_;
};

}  // namespace goban::site::series
