// Why a job is analysed or excluded: every rule, its data and its verdict.
#pragma once

#include <string>
#include <string_view>

#include "site/analysis/gpu_values.hpp"
#include "site/analysis/population.hpp"

namespace goban::site::analysis {

/// The audit of all records with that id (each run and array task) as English text. Empty if there
/// is no such record. `use` may be null.
[[nodiscard]] std::string explain_jobs(const Population& population, const Rules& rules,
                                       std::string_view id, const GpuUse* use);

}  // namespace goban::site::analysis
