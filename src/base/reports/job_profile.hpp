// The job profile (DESIGN 1): what one application is known to do, written by whoever measured it.
// A versioned JSON document; the wire between trainer, telemetry, history and the policies.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace goban::base::reports {

/// A measured value with its standard uncertainty (0 = not known).
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
  std::string source;  ///< who measured it, such as "goban-train" or "telemetry"
  std::optional<Measured> iteration_s;
  std::optional<Measured> epoch_s;
  /// Bytes that each GPU hands to an all-reduce at one synchronisation (gradients, not wire
  /// traffic).
  std::optional<Measured> bytes_per_step;
  std::optional<Measured> sync_interval_s;       ///< seconds of compute between synchronisations
  std::optional<Measured> peak_mem_bytes;        ///< of one GPU
  std::optional<Measured> utilisation_pct;       ///< of time that a kernel ran
  std::optional<Measured> memory_busy_pct;       ///< of time that GPU memory was in use
  std::optional<Measured> dram_utilisation_pct;  ///< of peak
  std::optional<Measured> fu_utilisation_pct;    ///< functional units, of peak
  std::optional<Measured> power_w;               ///< of one GPU
  std::optional<Measured> input_stall_pct;
  std::string app_class;  ///< "A", "B", ... or empty
};

/// Reads one document. Errors: BadData with `file` and the field; unknown fields are ignored, a
/// newer version is refused.
[[nodiscard]] base::Result<JobProfile> parse_job_profile(std::string_view json,
                                                         const std::string& file);
[[nodiscard]] std::string to_json(const JobProfile& profile);

}  // namespace goban::base::reports
