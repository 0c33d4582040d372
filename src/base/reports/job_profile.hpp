// The job profile: measured properties of one application, as a versioned JSON document that
// trainer, telemetry, job history and policies exchange (docs/jobs.md, job profiles).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace goban::base::reports {

/// A measured value with its standard uncertainty (0 = unknown).
struct Measured {
  double value = 0;
  double uncertainty = 0;
};

/// One application: a model at an input or batch size on a GPU type.
struct JobProfile {
  static constexpr int kVersion = 1;
  std::string model;
  std::string input;  ///< input or batch size, free text such as "batch 256"
  std::string gpu_type;
  std::string source;  ///< the program that measured it, such as "goban-train" or "telemetry"
  std::optional<Measured> iteration_s;
  std::optional<Measured> epoch_s;
  /// Bytes that each GPU contributes to an all-reduce at one synchronisation (gradients, not
  /// network traffic).
  std::optional<Measured> bytes_per_step;
  std::optional<Measured> sync_interval_s;       ///< seconds of compute between synchronisations
  std::optional<Measured> peak_mem_bytes;        ///< of one GPU
  std::optional<Measured> utilisation_pct;       ///< share of time in which a kernel ran
  std::optional<Measured> memory_busy_pct;       ///< share of time in which GPU memory was accessed
  std::optional<Measured> dram_utilisation_pct;  ///< of peak
  std::optional<Measured> fu_utilisation_pct;    ///< functional units, of peak
  std::optional<Measured> power_w;               ///< of one GPU
  std::optional<Measured> input_stall_pct;
  /// Shares of the run's time by part of its time table (time_table.hpp), 0 to 100.
  std::map<std::string, double> time_pct{};
  std::string app_class;  ///< "A", "B", ... or empty
};

/// Parses a document. Unknown fields are ignored. Errors: BadData with `file` and the field, also
/// for a newer version.
[[nodiscard]] base::Result<JobProfile> parse_job_profile(std::string_view json,
                                                         const std::string& file);
[[nodiscard]] std::string to_json(const JobProfile& profile);

}  // namespace goban::base::reports
