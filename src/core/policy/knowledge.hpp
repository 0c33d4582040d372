// What is known beside jobs and scores: who was measured beside whom, and what nodes draw.
#pragma once

#include <memory>
#include <vector>

#include "core/knowledge/colocation/colocation_predictor.hpp"
#include "core/knowledge/energy/power_model.hpp"
#include "core/model/cluster.hpp"
#include "core/model/job_state.hpp"

namespace goban::core::policy {

/// One site's measurements, by index of Cluster::gpu_models where they differ by GPU model.
struct SiteKnowledge {
  knowledge::ColocationHistory colocation;  ///< H as it is at the beginning
  knowledge::PredictorOptions predictor;
  std::vector<knowledge::GpuTypeId> gpu_types;  ///< in `colocation`; invalid: never measured
  /// Empty if no power model was given; else one for each GPU model.
  std::vector<knowledge::PowerModel> power;

  /// Knowledge of nothing for a cluster: jobs without a history, no watts.
  static SiteKnowledge none(const model::Cluster& cluster);
};

/// What policies are made with. Pointers outlive them.
struct RunContext {
  const model::WorkOracle* oracle = nullptr;          ///< null: no policy of the set needs it
  const model::ReportedProgress* progress = nullptr;  ///< null: jobs report nothing
  std::shared_ptr<const SiteKnowledge> knowledge{};   ///< null: nothing is known
  double round_s = 0;  ///< > 0: orders compare exactly, for the rounds are the quantum
};

}  // namespace goban::core::policy
