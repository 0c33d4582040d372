#include "serve/api/cluster_view.hpp"

#include <algorithm>

namespace goban::serve::api {

ClusterView view_cluster(const live::loop::SchedulerSnapshot& snapshot, bool with_scores) {
  const core::model::Cluster& cluster = snapshot.site.cluster;
  ClusterView view;
  view.cluster = &cluster;
  view.holders.resize(cluster.num_gpus());
  view.drain_reason.resize(cluster.nodes().size());
  view.is_drained.resize(cluster.nodes().size());
  view.is_open.assign(cluster.nodes().size(), true);
  view.is_asleep.assign(cluster.nodes().size(), false);
  view.held_cores.assign(cluster.nodes().size(), 0);
  for (const auto& [id, run] : snapshot.book.runs) {
    if (run.stage == live::controller::LiveRun::Stage::Pending) continue;
    for (const core::model::GpuId gpu : run.gpus) {
      if (gpu.index() < view.holders.size()) view.holders[gpu.index()].push_back(id.job);
    }
  }
  for (const auto& [id, job] : snapshot.book.jobs) {
    if (job.managed || job.found.empty()) continue;
    for (const core::model::GpuId gpu : job.gpus) {
      if (gpu.index() < view.holders.size()) view.holders[gpu.index()].push_back(id);
    }
  }
  view.promises.resize(cluster.nodes().size());
  for (const auto& [id, each] : snapshot.book.reservations) {
    if (!each.is_open()) continue;
    for (const core::model::NodeId node : each.plan.nodes) {
      if (node.index() >= view.promises.size()) continue;
      view.promises[node.index()].push_back({id, each.plan.start_ns, each.plan.end_ns});
    }
  }
  for (const auto& [node, reason] : snapshot.drained) {
    if (node.index() >= view.is_drained.size()) continue;
    view.is_drained[node.index()] = true;
    view.drain_reason[node.index()] = reason;
  }
  if (snapshot.core != nullptr) {
    const auto& state = snapshot.core->state();
    const auto rooms = state.resources().rooms();
    for (uint32_t i = 0; i < rooms.size() && i < view.is_open.size(); ++i) {
      const core::model::NodeId node(i);
      view.is_open[i] = rooms[i].open;
      view.held_cores[i] = std::max(cluster.nodes()[i].host.cores - rooms[i].host.cores, 0);
      view.is_asleep[i] = state.node_power().is_resting(node) || state.node_power().is_waking(node);
    }
  }
  if (with_scores) {
    for (size_t i = 0; i < snapshot.site.scores.num_classes(); ++i) {
      view.scores.push_back(
          snapshot.site.scores.of(core::model::AppClass{static_cast<uint8_t>(i)}).raw);
    }
  }
  return view;
}

const char* ClusterView::gpu_state(core::model::GpuId gpu) const {
  const size_t node = cluster->node_of(gpu).index();
  const size_t count = holders[gpu.index()].size();
  if (count > 1) return "shared";
  if (count == 1) return "busy";
  if (!is_open[node] && !is_asleep[node]) return "down";
  if (is_drained[node]) return "drained";
  return is_asleep[node] ? "asleep" : "free";
}

const char* ClusterView::node_state(size_t node) const {
  if (!is_open[node] && !is_asleep[node]) return "down";
  if (is_drained[node]) return held_gpus(node) > 0 ? "draining" : "drained";
  return is_asleep[node] ? "asleep" : "up";
}

uint32_t ClusterView::held_gpus(size_t node) const {
  const core::model::Node& each = cluster->nodes()[node];
  uint32_t count = 0;
  for (uint32_t gpu = each.first_gpu; gpu < each.end_gpu(); ++gpu) {
    count += holders[gpu].empty() ? 0 : 1;
  }
  return count;
}

}  // namespace goban::serve::api
