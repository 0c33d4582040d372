// Starts that a policy promised to waiting jobs (promise-backfill), and whether it kept them. Where
// walltime limits are enforced it does, unless nodes fail; elsewhere promises rest on predictions.
#pragma once

#include <cstdint>
#include <vector>

#include "core/scheduler/state.hpp"

namespace goban::study::simulator {

struct PromiseFigures {
  int64_t made = 0;       ///< of jobs that have started
  int64_t late = 0;       ///< of them, those that were not kept
  double late_p95_s = 0;  ///< 95 % of the late ones were not later than that
};

class PromiseBooks {
 public:
  /// After a decision. What was promised first counts, also if the job is promised another start.
  void look(const core::scheduler::State& state);
  void started(core::model::JobId job, base::TimeNs now);
  [[nodiscard]] PromiseFigures figures() const;

 private:
  /// By job; kNever: nothing is promised to it.
  std::vector<base::TimeNs> promised_ns_;
  int64_t made_ = 0;
  std::vector<double> late_s_;
};

}  // namespace goban::study::simulator
