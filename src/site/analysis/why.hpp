// Why a job is analysed or left out: every rule, what it saw, what it said.
#pragma once

#include <string>
#include <string_view>

#include "site/analysis/gpu_values.hpp"
#include "site/analysis/population.hpp"

namespace goban::site::analysis {

/// The audit of all records with that id (each run and array task), for people; in English, as
/// rules files are. Empty if there is no such record. `use` may be null.
[[nodiscard]] std::string explain_jobs(const Population& population, const Rules& rules,
                                       std::string_view id, const GpuUse* use);

}  // namespace goban::site::analysis
