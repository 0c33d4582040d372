// All tables and figures, one function per topic. Each adds to the report of its context, or lists
// there what is absent and why.
#pragma once

#include "site/analysis/build.hpp"

namespace goban::site::analysis {

inline constexpr double kHoursPerDay = 24;

void add_funnel(const Context& context);          ///< the conditions, and the jobs left after each
void add_resource_types(const Context& context);  ///< Table 1
void add_job_mix(const Context& context);         ///< Figures 2 and 3
void add_walltime(const Context& context);        ///< Table 2, Figure 4
void add_size_walltime(const Context& context);   ///< Spearman's rho of nodes and walltime
void add_gpu_figures(const Context& context);     ///< Figures 5 to 7
void add_gpu_quality(const Context& context);     ///< coverage, yield of GPU-hours, GPU memory
void add_gpu_flops(const Context& context);       ///< peak, busy and achieved FLOPS
void add_gpu_partial(const Context& context);     ///< jobs that use a part of their GPUs
void add_consumers(const Context& context);       ///< users and accounts, concentration
void add_exceedance(const Context& context);      ///< walltime limits
void add_racks(const Context& context);           ///< jobs beyond a rack, other uplinks
void add_waits(const Context& context);           ///< queue waits
void add_outcomes(const Context& context);        ///< failures and their GPU-hours
void add_calendar(const Context& context);        ///< submission times, GPUs held per day
void add_host_use(const Context& context);        ///< host memory, I/O, jobs without GPUs
void add_what_ifs(const Context& context);        ///< caps, prices, sharing, racks, type sizes

}  // namespace goban::site::analysis
