// What is known beside jobs and scores: who was measured beside whom, and what nodes draw.
#pragma once

#include <memory>
#include <vector>

#include "model/cluster.hpp"
#include "model/job_state.hpp"
#include "profile/colocation/colocation_predictor.hpp"
#include "profile/energy/power_model.hpp"

namespace goban::policy {

/// One site's measurements, by index of Cluster::gpu_models where they differ by GPU model.
struct SiteKnowledge {
  profile::ColocationHistory colocation;  ///< H as it is at the beginning
  profile::PredictorOptions predictor;
  std::vector<profile::GpuTypeId> gpu_types;  ///< in `colocation`; invalid: never measured
  /// Empty if no power model was given; else one for each GPU model.
  std::vector<profile::PowerModel> power;

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

}  // namespace goban::policy
