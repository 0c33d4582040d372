// How fast jobs that share GPUs really are in a simulation: what a policy only predicts.
//
// The truth of a set is the mean that a history predicts, that of the policy at the start or
// another, times a seeded error of its own for each member: exp(noise x z), z standard normal, the
// same whenever the set comes together. With noise 0 a policy that predicts from the same history
// is always right.
#pragma once

#include <cstdint>

#include "core/model/job.hpp"
#include "core/model/tenants.hpp"
#include "core/policy/knowledge.hpp"

namespace goban::study::simulator {

/// Slowdowns by neighbours and power limits. Refers to the knowledge, which outlives it.
class ColocationTruth {
 public:
  /// `history`: what is true, with the applications and GPU types of the knowledge; outlives it.
  ColocationTruth(const core::policy::SiteKnowledge& knowledge,
                  const core::knowledge::ColocationHistory& history, double noise, uint64_t seed)
      : knowledge_(&knowledge),
        predictor_(history, knowledge.predictor),
        noise_(noise),
        seed_(seed) {}

  /// Of a job on its GPUs, against the same GPUs without neighbours: its slowest group counts.
  [[nodiscard]] double by_neighbours(const core::model::Tenants& tenants,
                                     core::model::JobId job) const;
  /// The same with power limits.
  [[nodiscard]] double slowdown(const core::model::Tenants& tenants, core::model::JobId job) const;

 private:
  [[nodiscard]] double in_group(const core::model::Tenants& tenants,
                                const core::model::Tenants::Group& group,
                                core::model::JobId job) const;
  [[nodiscard]] double error(const core::model::Tenants& tenants,
                             const core::model::Tenants::Group& group, size_t position) const;

  const core::policy::SiteKnowledge* knowledge_;
  core::knowledge::ColocationPredictor predictor_;
  double noise_;
  uint64_t seed_;
};

}  // namespace goban::study::simulator
