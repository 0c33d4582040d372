#include "core/knowledge/bin_counts.hpp"

#include <algorithm>

namespace goban::core::knowledge {

using model::CountBuckets;
using model::DomainSet;

BinCounts::BinCounts(const model::Cluster& cluster, const ClassScores& scores)
    : cluster_(&cluster), scores_(&scores), totals_(scores.bin_values.size()) {
  const size_t bins = scores.bin_values.size();
  const auto levels = cluster.levels();
  for (size_t bin = 0; bin < bins; ++bin) {
    exact_.emplace_back(cluster.nodes().size(), cluster.node_gpus_max());
    for (size_t level = 0; level <= cluster.node_level(); ++level) {
      eligible_inner_.emplace_back(levels[level].num_domains(), cluster.node_gpus_max());
    }
    for (size_t level = cluster.node_level() + 1; level + 1 < levels.size(); ++level) {
      eligible_outer_.emplace_back(levels[level].num_domains());
    }
  }
}

void BinCounts::change(GpuId gpu, int step) {
  const uint8_t bin = scores_->bin[gpu.index()];
  const auto move = [step](CountBuckets& buckets, uint32_t domain) {
    if (step > 0) {
      buckets.increment(domain);
    } else {
      buckets.decrement(domain);
    }
  };
  move(exact_[bin], cluster_->node_of(gpu).value);
  const size_t inner = cluster_->node_level() + 1;
  const size_t outer = cluster_->levels().size() - inner - 1;
  for (size_t v = bin; v < totals_.size(); ++v) {
    totals_[v] += step;
    for (size_t level = 0; level < inner; ++level) {
      move(eligible_inner_[v * inner + level], cluster_->domain_of(level, gpu));
    }
    for (size_t level = 0; level < outer; ++level) {
      eligible_outer_[v * outer + level][cluster_->domain_of(inner + level, gpu)] += step;
    }
  }
}

uint32_t BinCounts::fullest_domain(size_t bin, size_t level, int32_t least) const {
  const size_t inner = cluster_->node_level() + 1;
  if (level < inner) {
    const CountBuckets& buckets = eligible_inner_[bin * inner + level];
    if (least > static_cast<int32_t>(buckets.count_max())) return DomainSet::kNone;
    return buckets.fullest(static_cast<uint32_t>(least));
  }
  if (level + 1 == cluster_->levels().size()) {
    return totals_[bin] >= least ? 0 : DomainSet::kNone;
  }
  const size_t outer = cluster_->levels().size() - inner - 1;
  const std::vector<int32_t>& counts = eligible_outer_[bin * outer + (level - inner)];
  const auto most = std::ranges::max_element(counts);
  return *most >= least ? static_cast<uint32_t>(most - counts.begin()) : DomainSet::kNone;
}

}  // namespace goban::core::knowledge
