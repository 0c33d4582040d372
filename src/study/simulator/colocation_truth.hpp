// The true speed of co-located jobs in a simulation, which a policy can only predict.
//
// The true slowdown of a set is the mean predicted from a history (the initial one of the policy,
// or another) times a seeded error per member: exp(noise x z), z standard normal, the same whenever
// the set occurs. With noise 0 a policy that predicts from the same history is always right.
#pragma once

#include <cstdint>

#include "core/model/job.hpp"
#include "core/model/tenants.hpp"
#include "core/policy/knowledge.hpp"

namespace goban::study::simulator {

/// Slowdowns by neighbours and power limits. Refers to the knowledge, which must outlive it.
class ColocationTruth {
 public:
  /// `history`: the true slowdowns, with the applications and GPU types of the knowledge; must
  /// outlive this object.
  ColocationTruth(const core::policy::SiteKnowledge& knowledge,
                  const core::knowledge::ColocationHistory& history, double noise, uint64_t seed)
      : knowledge_(&knowledge),
        predictor_(history, knowledge.predictor),
        noise_(noise),
        seed_(seed) {}

  /// Slowdown of a job on its GPUs against the same GPUs without neighbours: the maximum over its
  /// GPUs.
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
