// From what a site measured, and from what its jobs say of themselves, to the SiteKnowledge of a
// cluster. Says what is missing, for those missing pieces decide how far to believe a result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/policy/knowledge.hpp"

namespace goban::core::policy {

/// Either may be absent.
struct KnowledgeSources {
  std::optional<knowledge::ColocationHistory> colocation;
  std::optional<knowledge::PowerCatalog> power;
};

/// What nobody measured.
struct KnowledgeGaps {
  std::vector<std::string> unmeasured_gpus;      ///< GPU models that the history does not know
  std::vector<std::string> gpus_without_memory;  ///< GPU models of unknown memory
  std::vector<std::string> unknown_apps;         ///< of jobs, in order of appearance
  int64_t unknown_jobs = 0;                      ///< jobs of these
  int64_t unnamed_jobs = 0;                      ///< jobs without a model
  int64_t without_util = 0;                      ///< jobs of which no utilisation is known
  int64_t without_mem = 0;                       ///< jobs of which no peak of memory is known
};

struct MadeKnowledge {
  SiteKnowledge knowledge;
  KnowledgeGaps gaps;
};

/// Finds the application of every job by model and batch size and writes it into the history; one
/// that was never measured becomes an application without measurements. What jobs declare of their
/// utilisation and memory stands in where the measurements say nothing of an application alone:
/// their mean, and their largest peak.
/// Errors: Usage if a GPU model of the cluster has no power model.
[[nodiscard]] base::Result<MadeKnowledge> make_knowledge(KnowledgeSources sources,
                                                         const model::Cluster& cluster,
                                                         model::JobHistory& history);

}  // namespace goban::core::policy
