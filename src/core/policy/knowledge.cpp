#include "core/policy/knowledge.hpp"

namespace goban::core::policy {

SiteKnowledge SiteKnowledge::none(const model::Cluster& cluster) {
  SiteKnowledge knowledge;
  knowledge.gpu_types.resize(cluster.gpu_models().size());
  return knowledge;
}

}  // namespace goban::core::policy
