// The configuration of the site that a controller schedules.
#pragma once

#include <memory>

#include "base/name_table.hpp"
#include "core/knowledge/locality.hpp"
#include "core/knowledge/pm_scores.hpp"
#include "core/policy/compose.hpp"
#include "live/controller/reservation.hpp"

namespace goban::live::controller {

/// Plain values, so that a controller can be rebuilt from it.
struct Site {
  core::model::Cluster cluster{};
  core::knowledge::PmScores scores = core::knowledge::PmScores::uniform(1);
  core::knowledge::LocalityPenalties penalties{core::model::Cluster{}, 1.0};
  core::policy::Composition composition{};
  std::shared_ptr<const core::policy::SiteKnowledge> knowledge{};  ///< null: no knowledge
  base::NameTable accounts{}, users{}, partitions{},
      qos{};  ///< ids as used by the composition's rules
  uint64_t seed = 1;
  TimeNs keep_ended_ns = 3600 * base::kSecond;  ///< how long accounted jobs stay in the job table
  ReservationRules reservations{};
  size_t jobs_per_user_max = 0;  ///< unfinished jobs of one user; 0 = no limit
};

}  // namespace goban::live::controller
