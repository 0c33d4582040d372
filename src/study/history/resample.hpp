// Resamples of a history: other histories that could have happened, for intervals.
#pragma once

#include <cstdint>

#include "core/model/job_history.hpp"

namespace goban::study::history {

/// Number of spans of 24 hours from the first submission to the last one. 0 without jobs.
[[nodiscard]] int64_t days_of(const core::model::JobHistory& history);

/// A history of as many days, where each day is drawn with replacement (bootstrap over blocks: jobs
/// within a day depend on each other). Jobs keep their time of the day, names and targets; recorded
/// starts are dropped; an array that is drawn twice becomes two. The same seed gives the same
/// history. Cost: one pass over the jobs drawn.
[[nodiscard]] core::model::JobHistory resampled_days(const core::model::JobHistory& history,
                                                     uint64_t seed);

}  // namespace goban::study::history
