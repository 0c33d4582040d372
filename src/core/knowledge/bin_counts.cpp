#include "core/knowledge/bin_counts.hpp"

#include <algorithm>

namespace goban::core::knowledge {

using model::CountBuckets;
using model::DomainSet;

BinCounts::BinCounts(const model::Cluster& cluster, const ClassScores& scores)
    : cluster_(&cluster), scores_(&scores), gpus_(cluster.num_gpus()) {
  const size_t bins = scores.bin_values.size();
  counts_.totals.resize(bins);
  const auto levels = cluster.levels();
  for (size_t bin = 0; bin < bins; ++bin) {
    counts_.exact.emplace_back(cluster.nodes().size(), cluster.node_gpus_max());
    for (size_t level = 0; level <= cluster.node_level(); ++level) {
      counts_.inner.emplace_back(levels[level].num_domains(), cluster.node_gpus_max());
    }
    for (size_t level = cluster.node_level() + 1; level + 1 < levels.size(); ++level) {
      counts_.outer.emplace_back(levels[level].num_domains());
    }
  }
}

void BinCounts::count_noted() const {
  for (const GpuId gpu : noted_) {
    GpuNote& each = gpus_[gpu.index()];
    each.is_noted = false;
    if (each.is_free == each.is_counted) continue;
    each.is_counted = each.is_free;
    change(gpu, each.is_free ? +1 : -1);
  }
  noted_.clear();
}

void BinCounts::change(GpuId gpu, int step) const {
  const uint8_t bin = scores_->bin[gpu.index()];
  const auto move = [step](CountBuckets& buckets, uint32_t domain) {
    if (step > 0) {
      buckets.increment(domain);
    } else {
      buckets.decrement(domain);
    }
  };
  move(counts_.exact[bin], cluster_->node_of(gpu).value);
  const size_t inner = cluster_->node_level() + 1;
  const size_t outer = cluster_->levels().size() - inner - 1;
  for (size_t v = bin; v < counts_.totals.size(); ++v) {
    counts_.totals[v] += step;
    for (size_t level = 0; level < inner; ++level) {
      move(counts_.inner[v * inner + level], cluster_->domain_of(level, gpu));
    }
    for (size_t level = 0; level < outer; ++level) {
      counts_.outer[v * outer + level][cluster_->domain_of(inner + level, gpu)] += step;
    }
  }
}

uint32_t BinCounts::fullest_domain(size_t bin, size_t level, int32_t least) const {
  settle();
  const size_t inner = cluster_->node_level() + 1;
  if (level < inner) {
    const CountBuckets& buckets = counts_.inner[bin * inner + level];
    if (least > static_cast<int32_t>(buckets.count_max())) return DomainSet::kNone;
    return buckets.fullest(static_cast<uint32_t>(least));
  }
  if (level + 1 == cluster_->levels().size()) {
    return counts_.totals[bin] >= least ? 0 : DomainSet::kNone;
  }
  const size_t outer = cluster_->levels().size() - inner - 1;
  const std::vector<int32_t>& counts = counts_.outer[bin * outer + (level - inner)];
  const auto most = std::ranges::max_element(counts);
  return *most >= least ? static_cast<uint32_t>(most - counts.begin()) : DomainSet::kNone;
}

}  // namespace goban::core::knowledge
