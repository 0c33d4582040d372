// The whole report of a site, from its jobs.
#pragma once

#include "site/analysis/build.hpp"
#include "site/analysis/gpu_values.hpp"
#include "site/analysis/labels.hpp"
#include "site/analysis/population.hpp"
#include "site/analysis/report_data.hpp"
#include "site/analysis/rules.hpp"

namespace goban::site::analysis {

/// All tables and figures that the population can answer; the others are in ReportData::absent with
/// their reasons. The population went through extract() (and apply_gpu_use(), if there are values;
/// `use` may be null).
[[nodiscard]] ReportData analyse(const Population& population, const Rules& rules,
                                 const Labels& labels, const GpuUse* use = nullptr,
                                 const SourceNames& names = {});

}  // namespace goban::site::analysis
