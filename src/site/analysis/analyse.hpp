// The complete report of a site, from its jobs.
#pragma once

#include "site/analysis/build.hpp"
#include "site/analysis/gpu_values.hpp"
#include "site/analysis/labels.hpp"
#include "site/analysis/population.hpp"
#include "site/analysis/report_data.hpp"
#include "site/analysis/rules.hpp"

namespace goban::site::analysis {

/// All tables and figures for which the population has data; the others are listed in
/// ReportData::absent with their reasons. Call extract() on the population first, and
/// apply_gpu_use() if there are GPU values; `use` may be null.
[[nodiscard]] ReportData analyse(const Population& population, const Rules& rules,
                                 const Labels& labels, const GpuUse* use = nullptr,
                                 const SourceNames& names = {});

}  // namespace goban::site::analysis
