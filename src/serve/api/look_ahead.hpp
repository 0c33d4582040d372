// A copy of the scheduler's state from which a core can run ahead while the scheduler goes on.
#pragma once

#include <memory>

#include "core/scheduler/start_forecast.hpp"
#include "live/loop/live_scheduler.hpp"

namespace goban::serve::api {

struct AheadState {
  core::scheduler::CoreImage image{};
  core::model::Cluster cluster{};
  core::knowledge::PmScores scores = core::knowledge::PmScores::uniform(1);
  core::knowledge::LocalityPenalties penalties{core::model::Cluster{}, 1.0};
  core::policy::Composition composition{};
  std::shared_ptr<const core::policy::SiteKnowledge> knowledge{};
  uint64_t seed = 1;
  base::TimeNs now_ns = 0;

  /// Refers to this object.
  [[nodiscard]] core::scheduler::AheadSite site() const {
    return {.speed = {.cluster = &cluster, .scores = &scores, .penalties = &penalties},
            .composition = &composition,
            .knowledge = knowledge,
            .seed = seed};
  }
};

/// Whether the core can be copied without holding up the scheduler: at most 20,000 jobs wait.
[[nodiscard]] bool can_look_ahead(const live::loop::SchedulerSnapshot& snapshot);
/// Called while the scheduler is blocked; can_look_ahead(). Cost: a copy of all unfinished jobs,
/// 2 us each.
[[nodiscard]] AheadState copy_for_ahead(const live::loop::SchedulerSnapshot& snapshot);

/// Decisions of one run ahead, after which it ends.
inline constexpr int64_t kAheadDecisionsMax = 4'000;

}  // namespace goban::serve::api
