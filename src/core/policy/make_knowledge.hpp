// Builds the SiteKnowledge of a cluster from the site's measurements and its jobs' declarations.
// Reports what is missing, which limits the reliability of results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/reports/job_profile.hpp"
#include "base/result.hpp"
#include "core/model/job_history.hpp"
#include "core/policy/knowledge.hpp"

namespace goban::core::policy {

/// Either may be absent.
struct KnowledgeSources {
  std::optional<knowledge::ColocationHistory> colocation;
  std::optional<knowledge::PowerCatalog> power;
  std::vector<base::reports::JobProfile> profiles{};
};

/// Missing measurements.
struct KnowledgeGaps {
  std::vector<std::string> unmeasured_gpus;      ///< GPU models that are not in the history
  std::vector<std::string> gpus_without_memory;  ///< GPU models whose memory is unknown
  std::vector<std::string> unknown_apps;         ///< applications of jobs, in order of appearance
  int64_t unknown_jobs = 0;                      ///< jobs of these applications
  int64_t unnamed_jobs = 0;                      ///< jobs without a model
  int64_t without_util = 0;                      ///< jobs whose utilisation is unknown
  int64_t without_mem = 0;                       ///< jobs whose peak memory is unknown
};

struct MadeKnowledge {
  SiteKnowledge knowledge;
  KnowledgeGaps gaps;
};

/// Sets the application of every job in `history`, by model and batch size; an unknown application
/// is added without measurements. If an application was not measured alone, the utilisation and
/// memory that its jobs declare are used: their mean, and their largest peak; where they declare no
/// utilisation, how busy the GPU was by the job profile of the model (gpu_busy.hpp). Errors: Usage
/// if a GPU model of the cluster has no power model.
[[nodiscard]] base::Result<MadeKnowledge> make_knowledge(KnowledgeSources sources,
                                                         const model::Cluster& cluster,
                                                         model::JobHistory& history);

}  // namespace goban::core::policy
