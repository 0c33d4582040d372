// The members of a report document about watts and about jobs that share a GPU.
#pragma once

#include <string>

#include "study/results/report_document.hpp"

namespace goban::study::results {

/// Most applications in a co-location matrix: those of most jobs stay.
inline constexpr size_t kMatrixAppsMax = 40;

/// Watts of the cluster over time under accounting D, at most 720 points a run; empty if a run was
/// not metered. Brings the bins of all recorders to one width.
[[nodiscard]] std::string power_json(const ReportInput& input);

/// Which applications were measured together, by GPU type of the cluster, and which of them met in
/// each run; empty if no pair was measured and none met.
[[nodiscard]] std::string colocation_json(const ReportInput& input);

}  // namespace goban::study::results
