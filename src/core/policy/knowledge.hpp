// Site knowledge other than jobs and scores: co-location history and power models.
#pragma once

#include <memory>
#include <vector>

#include "core/knowledge/colocation/colocation_predictor.hpp"
#include "core/knowledge/energy/power_model.hpp"
#include "core/model/cluster.hpp"
#include "core/model/job.hpp"
#include "core/model/job_speeds.hpp"

namespace goban::core::policy {

/// Measurements of one site; vectors are indexed as Cluster::gpu_models.
struct SiteKnowledge {
  knowledge::ColocationHistory colocation;  ///< initial co-location history
  knowledge::PredictorOptions predictor;
  std::vector<knowledge::GpuTypeId> gpu_types;  ///< in `colocation`; invalid: never measured
  /// One per GPU model; empty if no power model was given.
  std::vector<knowledge::PowerModel> power;

  /// For a cluster without measurements: empty history, no power models.
  static SiteKnowledge none(const model::Cluster& cluster);
};

/// Arguments for building policies. Pointers must outlive the policies.
struct RunContext {
  const model::WorkOracle* oracle = nullptr;          ///< null: not available
  const model::ReportedProgress* progress = nullptr;  ///< null: no progress reports
  std::shared_ptr<const SiteKnowledge> knowledge{};   ///< null: no measurements
  double round_s = 0;         ///< > 0: orders compare exactly; rounds are the quantum
  double restart_cost_s = 0;  ///< of a relaunched job; 0: none or unknown
  /// Interval of checkpoints, if a preempted job loses the work since the last one; 0: it does not.
  double checkpoint_s = 0;
  std::shared_ptr<const model::JobSpeeds> speeds{};  ///< null: no job is elastic
  double resize_cost_s = 0;                          ///< of an elastic job that does not say
};

}  // namespace goban::core::policy
