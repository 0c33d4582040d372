// What the runs of a job that is over say of the speed of their GPUs.
#pragma once

#include <vector>

#include "core/knowledge/measure/score_learner.hpp"
#include "live/controller/job_book.hpp"

namespace goban::serve::daemon {

struct EvidenceRules {
  double busy_s_min = 5;    ///< of each rank; less says nothing
  int64_t steps_min = 10;   ///< likewise
  double wall_share = 1.1;  ///< of the time that the daemon saw the run take a rank may claim this
};

/// One evidence a run that may say something. Times by rank, if each GPU has one rank that computed
/// long enough, and no rank claims more time than the run took by the daemon's own clock; else, of
/// a whole job that ran once on one GPU, the time of a step by its progress. `application`: of its
/// user, see ProfileBook::application_of(); 0 = not known, and nothing is said.
[[nodiscard]] std::vector<core::knowledge::RunEvidence> evidence_of(
    const live::controller::LiveJob& job, uint32_t application, const EvidenceRules& rules = {});

}  // namespace goban::serve::daemon
