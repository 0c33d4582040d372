// Resamples of a history: other histories that could have happened, for intervals.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/job_history.hpp"

namespace goban::study::history {

/// Number of spans of 24 hours from the first submission to the last one. 0 without jobs.
[[nodiscard]] int64_t days_of(const core::model::JobHistory& history);

/// A job of a history, submitted at this time.
struct Pick {
  size_t job = 0;
  base::TimeNs submit_ns = 0;
};

/// As many blocks of this length as the history has, each drawn from all of them with replacement
/// (block bootstrap: jobs within a block depend on each other and keep their distances). Ascending.
/// Empty if the history is.
[[nodiscard]] std::vector<Pick> drawn_blocks(const core::model::JobHistory& history,
                                             base::TimeNs block_ns, uint64_t seed);

/// A history of as many days, where each day is drawn with replacement. Jobs keep their time of the
/// day, names and targets; recorded starts are dropped; an array that is drawn twice becomes two.
/// The same seed gives the same history. Cost: one pass over the jobs drawn.
[[nodiscard]] core::model::JobHistory resampled_days(const core::model::JobHistory& history,
                                                     uint64_t seed);

}  // namespace goban::study::history
