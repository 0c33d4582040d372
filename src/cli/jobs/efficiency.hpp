// How much of what a job held it used: processors, memory and GPUs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/jobs/job_row.hpp"
#include "cli/shell/terminal_style.hpp"

namespace goban::cli {

/// Use of one job. Negative: not measured, or nothing to compare it with.
struct JobUse {
  JobRow job{};
  double cores_held = -1;  ///< of all nodes together
  double cores_used = -1;  ///< CPU time / run time
  double mem_held_bytes = -1;
  double mem_used_bytes = -1;  ///< maximum
  double gpu_util_pct = -1;    ///< mean of its GPUs and its time
  double gpu_mem_bytes = -1;   ///< maximum
  double energy_j = -1;

  [[nodiscard]] double cpu_pct() const;
  [[nodiscard]] double mem_pct() const;
};

/// From the details of a job, GET /v1/jobs/7.
[[nodiscard]] JobUse job_use(const nlohmann::json& details, double now_s);

/// A line per job, and one with the means: of CPU and memory weighted by time, of GPUs by
/// GPU-hours.
[[nodiscard]] std::string use_table(const std::vector<JobUse>& jobs, const TerminalStyle& style);
/// {"jobs": [...], "total": {...}}; what is not known is absent.
[[nodiscard]] nlohmann::json use_json(const std::vector<JobUse>& jobs);

}  // namespace goban::cli
