// Run times drawn from forecasts, for looking ahead.
#pragma once

#include "core/model/job.hpp"

namespace goban::core::policy {

/// The luck of each user in one look ahead: how far his run times lie from their medians, in
/// standard deviations. Most of it (0.9 of the variance) is shared by all jobs of a user: if one
/// runs longer than predicted, so do the others.
class RunLuck {
 public:
  explicit RunLuck(uint64_t seed) : seed_(seed) {}

  /// The total time for which the job holds its resources in this look ahead: more than it has held
  /// them by `now`, and at most its walltime limit. kNever if it has neither forecast nor limit.
  [[nodiscard]] base::TimeNs run_ns(const model::JobState& job, base::TimeNs now) const;

 private:
  uint64_t seed_;
};

}  // namespace goban::core::policy
