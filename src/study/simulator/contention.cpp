#include "study/simulator/contention.hpp"

#include <algorithm>
#include <set>

namespace goban::study::simulator {

using core::model::GpuId;
using core::model::JobId;

base::Result<LinkContention> LinkContention::make(const core::model::Cluster& cluster,
                                                  const ContentionSettings& settings) {
  const auto levels = cluster.levels();
  const auto rack = std::ranges::find(levels, "rack", &core::model::TopologyLevel::name);
  if (rack == levels.end() || rack->num_domains() < 2) {
    return base::usage_error("--contention requires a cluster with racks",
                             "give nodes_per_rack in the cluster file, or omit --contention");
  }
  double ratio = settings.uplink_ratio.value_or(0);
  if (!settings.uplink_ratio) {
    const auto outer = rack + 1;
    if (rack->bandwidth_bytes_per_s <= 0 || outer->bandwidth_bytes_per_s <= 0) {
      return base::usage_error("the bandwidth within and between racks is unknown",
                               "give --uplink-ratio, or links in the cluster file");
    }
    ratio = outer->bandwidth_bytes_per_s / rack->bandwidth_bytes_per_s;
  }
  return LinkContention(cluster, static_cast<size_t>(rack - levels.begin()), ratio,
                        settings.communication_share);
}

LinkContention::LinkContention(const core::model::Cluster& cluster, size_t rack_level, double ratio,
                               double share)
    : cluster_(&cluster),
      rack_level_(rack_level),
      share_(share),
      capacity_nodes_(cluster.levels()[rack_level].num_domains()),
      demand_nodes_(capacity_nodes_.size()),
      jobs_(capacity_nodes_.size()) {
  for (const core::model::Node& node : cluster.nodes()) {
    if (node.num_gpus == 0) continue;
    capacity_nodes_[cluster.domain_of(rack_level, GpuId(node.first_gpu))] += ratio;
  }
}

void LinkContention::change(const std::vector<RackShare>& racks, int sign) {
  for (const RackShare& each : racks) demand_nodes_[each.rack] += sign * each.nodes;
}

void LinkContention::collect(const std::vector<RackShare>& racks) {
  affected_.clear();
  for (const RackShare& each : racks) {
    affected_.insert(affected_.end(), jobs_[each.rack].begin(), jobs_[each.rack].end());
  }
  std::ranges::sort(affected_);
  const auto repeated = std::ranges::unique(affected_);
  affected_.erase(repeated.begin(), repeated.end());
}

std::span<const JobId> LinkContention::start(JobId job, std::span<const GpuId> gpus) {
  affected_.clear();
  if (gpus.empty() || cluster_->span_level(gpus) <= rack_level_) return affected_;
  std::set<std::pair<uint32_t, uint32_t>> nodes;  // (rack, node)
  for (const GpuId gpu : gpus) {
    nodes.emplace(cluster_->domain_of(rack_level_, gpu), cluster_->node_of(gpu).value);
  }
  std::vector<RackShare> racks;
  for (const auto& [rack, node] : nodes) {
    if (racks.empty() || racks.back().rack != rack) racks.push_back({rack, 0});
    ++racks.back().nodes;
  }
  for (const RackShare& each : racks) jobs_[each.rack].push_back(job);
  change(racks, +1);
  collect(racks);
  spans_.emplace(job, std::move(racks));
  return affected_;
}

std::span<const JobId> LinkContention::stop(JobId job) {
  affected_.clear();
  const auto found = spans_.find(job);
  if (found == spans_.end()) return affected_;
  for (const RackShare& each : found->second) std::erase(jobs_[each.rack], job);
  change(found->second, -1);
  collect(found->second);
  spans_.erase(found);
  return affected_;
}

double LinkContention::slowdown(JobId job) const {
  const auto found = spans_.find(job);
  if (found == spans_.end()) return 1;
  double worst = 1;
  for (const RackShare& each : found->second) {
    worst = std::max(worst, share_ * demand_nodes_[each.rack] / capacity_nodes_[each.rack]);
  }
  return 1 + share_ * (worst - 1);
}

}  // namespace goban::study::simulator
