// How long a running job runs in total, by the share of its work that it reports to have done.
#pragma once

#include "core/model/job.hpp"

namespace goban::core::knowledge {

/// What a running job reports.
struct ReportedWork {
  double share = -1;             ///< of all its steps or epochs, done by now; negative = unknown
  base::TimeNs attained_ns = 0;  ///< for which it has held its resources, over all runs
};

/// What is left takes as long as what was done, in proportion; the interval goes from four fifths
/// to five quarters of that, plus a minute at its end. That width is a rule of thumb: no public
/// history has progress lines to calibrate it. Unknown while less than a twentieth or a minute of
/// the work is done, as the start of a run says little of its pace.
[[nodiscard]] model::RunForecast forecast_from_progress(const ReportedWork& work,
                                                        base::TimeNs limit_ns);

}  // namespace goban::core::knowledge
