// Evidence of GPU speed from the runs of a finished job.
#pragma once

#include <vector>

#include "core/knowledge/measure/score_learner.hpp"
#include "live/controller/job_book.hpp"

namespace goban::serve::daemon {

struct EvidenceRules {
  double busy_s_min = 5;    ///< minimum compute time per rank
  int64_t steps_min = 10;   ///< minimum number of steps per rank
  double wall_share = 1.1;  ///< maximum of the time a rank claims / the run's time by our clock
};

/// At most one piece of evidence per run. Step times by rank, if each GPU has one rank that
/// computed long enough and no rank claims more time than the run took by the daemon's clock.
/// Otherwise, for a completed job with a single run on one GPU, the step time by its progress
/// reports. `application`: see ProfileBook::application_of(); 0 = unknown: there is no evidence.
[[nodiscard]] std::vector<core::knowledge::RunEvidence> evidence_of(
    const live::controller::LiveJob& job, uint32_t application, const EvidenceRules& rules = {});

}  // namespace goban::serve::daemon
