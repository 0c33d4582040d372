// Histories made of the jobs of another one: its first days, or days drawn from it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/job_history.hpp"

namespace goban::study::lab {

using base::TimeNs;

/// A job of a history, submitted at this time.
struct Pick {
  size_t job = 0;
  TimeNs submit_ns = 0;
};

/// The jobs that were submitted within this time after the first one.
[[nodiscard]] std::vector<Pick> first_jobs(const core::model::JobHistory& history, TimeNs span_ns);

/// As many blocks of this length as the history has, each drawn from all of them with replacement
/// (block bootstrap); within a block jobs keep their distances. Ascending. Empty if the history is.
[[nodiscard]] std::vector<Pick> resampled(const core::model::JobHistory& history, TimeNs block_ns,
                                          uint64_t seed);

/// The history of these jobs; `picks` ascend by submission. Recorded times move with the jobs.
[[nodiscard]] core::model::JobHistory take_jobs(const core::model::JobHistory& history,
                                                std::span<const Pick> picks);

}  // namespace goban::study::lab
