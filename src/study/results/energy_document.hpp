// The members of a report document about power and about jobs that share a GPU.
#pragma once

#include <string>

#include "study/results/report_document.hpp"

namespace goban::study::results {

/// Maximum number of applications in a co-location matrix; those with most jobs are kept.
inline constexpr size_t kMatrixAppsMax = 40;

/// Power of the cluster over time in watts under accounting D, at most 720 points per run; empty if
/// a run was not metered. Brings the bins of all recorders to one width.
[[nodiscard]] std::string power_json(const ReportInput& input);

/// Pairs of applications that were measured together, by GPU type of the cluster, and those that
/// shared a GPU in each run; empty if there are neither.
[[nodiscard]] std::string colocation_json(const ReportInput& input);

}  // namespace goban::study::results
