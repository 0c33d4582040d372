// The configuration of the site that a controller schedules.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/name_table.hpp"
#include "core/knowledge/locality.hpp"
#include "core/knowledge/pm_scores.hpp"
#include "core/model/job_speeds.hpp"
#include "core/model/storage_tiers.hpp"
#include "core/policy/compose.hpp"
#include "live/controller/reservation.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live::controller {

/// What jobs get that do not state their time or memory, and the most that they may request;
/// 0 = none. Resource types have their own.
struct JobLimits {
  TimeNs time_default_ns = 0;
  TimeNs time_max_ns = 0;  ///< also the default, if there is no other
  int64_t mem_default_bytes = 0;
  int64_t mem_max_bytes = 0;  ///< also the default, if there is no other
  friend bool operator==(const JobLimits&, const JobLimits&) = default;
};

/// How data is copied to and from the fast tier.
struct StagingRules {
  std::optional<core::model::StorageTier> fast{};  ///< none: this site stages nothing
  /// For owners that are no Unix users; none: their jobs cannot stage.
  std::optional<job::Owner> others{};
  TimeNs retry_ns = 10 * base::kSecond;       ///< after a first failure; doubles with each
  TimeNs retry_max_ns = 600 * base::kSecond;  ///< at most
};

/// Plain values, so that a controller can be rebuilt from it.
struct Site {
  core::model::Cluster cluster{};
  std::vector<std::string> gpu_models{};  ///< of its GPUs, each once; empty = those of `cluster`
  core::knowledge::PmScores scores = core::knowledge::PmScores::uniform(1);
  core::knowledge::LocalityPenalties penalties{core::model::Cluster{}, 1.0};
  core::policy::Composition composition{};
  std::shared_ptr<const core::policy::SiteKnowledge> knowledge{};  ///< null: no knowledge
  std::shared_ptr<const core::model::JobSpeeds> speeds{};          ///< null: no job is elastic
  base::NameTable models{};                                        ///< ids as used by `speeds`
  base::NameTable accounts{}, users{}, partitions{},
      qos{};  ///< ids as used by the composition's rules
  uint64_t seed = 1;
  TimeNs keep_ended_ns = 3600 * base::kSecond;  ///< how long accounted jobs stay in the job table
  TimeNs launch_hold_ns = 10 * base::kSecond;   ///< after a launch that the machine could not make
  TimeNs decline_hold_ns = 30 * base::kSecond;  ///< for what the engine declined to use
  ReservationRules reservations{};
  TimeNs grace_max_ns = 300 * base::kSecond;  ///< between SIGTERM and SIGKILL of a job
  TimeNs lead_max_ns = 300 * base::kSecond;   ///< between a job's checkpoint signal and SIGTERM
  JobLimits limits{};
  StagingRules staging{};
  size_t jobs_per_user_max = 0;  ///< unfinished jobs of one user; 0 = no limit
  std::string submit_with{};     ///< command of the engine's own queue; empty: jobs come from here
  bool fences_nodes = false;  ///< the engine waits for pods of dead nodes, until a node is fenced
  bool suspends_jobs = true;  ///< the engine can stop a job for a while
  bool parts_share_nodes = false;  ///< parts of a job of that queue may lie on one node
};

}  // namespace goban::live::controller
