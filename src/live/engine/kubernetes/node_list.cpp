#include "live/engine/kubernetes/node_list.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>
#include <vector>

#include "live/engine/kubernetes/node_sleep.hpp"
#include "live/engine/kubernetes/pod_facts.hpp"

namespace goban::live::engine::kubernetes {

namespace {

using cluster::Stand;

/// What pods hold of a node besides its GPUs.
struct OnNode {
  int64_t cpu_milli = 0;  ///< of pods without GPUs that are no jobs here
  int64_t mem_bytes = 0;
  bool has_ours = false;   ///< pods that have not ended
  bool is_evicted = true;  ///< all of them
};

std::map<std::string, OnNode> pods_by_node(const Objects& objects, const Rules& rules) {
  std::map<std::string, OnNode> out;
  for (const auto& [key, pod] : objects.pods) {
    if (pod.node.empty() || pod.is_over()) continue;
    OnNode& node = out[pod.node];
    if (is_ours(pod.meta, pod.scheduler, rules)) {
      node.has_ours = true;
      node.is_evicted = node.is_evicted && pod.meta.deleting;
    } else if (pod.gpus == 0) {
      node.cpu_milli += pod.cpu_milli;
      node.mem_bytes += pod.mem_bytes;
    }
  }
  return out;
}

/// A partition that a gang asks for.
struct Wanted {
  std::string name{};
  const Place* place = nullptr;
  std::string id{};  ///< the gang's
};

/// Those that need it most come first.
auto rank_of(const Wanted& wanted, const View& view) {
  const auto job = view.picture.jobs.find(wanted.id);
  if (job == view.picture.jobs.end()) return std::tuple(3, 0, TimeNs{0});  // it has ended
  const JobSeen& seen = job->second;
  const int state = seen.state == SeenState::Running ? 2 : static_cast<int>(!seen.blocked.empty());
  return std::tuple(state, -std::max(seen.spec.priority, -INT32_MAX), seen.submit_ns);
}

}  // namespace

void add_nodes(const Objects& objects, const Rules& rules, const cluster::Picture& told,
               const std::map<std::string, int32_t>& held, View& view) {
  constexpr int64_t kMemoryStep = int64_t{1} << 30;
  std::map<std::string, OnNode> pods = pods_by_node(objects, rules);
  const auto held_on = [&](const std::string& name) {
    const auto found = held.find(name);
    return found == held.end() ? 0 : found->second;
  };
  for (const auto& [key, node] : objects.nodes) {
    const OnNode& on = pods[node.meta.name];
    const bool managed = is_managed(node, rules);
    if (!managed && !on.has_ours) continue;
    SeenNode seen = node.seen;
    if (seen.state == SeenNodeState::Down && on.has_ours) {
      seen.state = SeenNodeState::Drained;
      seen.silent = true;
      seen.reason = on.is_evicted ? "not ready; its pods are being deleted" : "not ready";
    }
    if (!managed && seen.state == SeenNodeState::Up) {
      seen.state = SeenNodeState::Drained;
      seen.reason = fmt::format("its label {} was removed", kManagedLabel);
    }
    int32_t least = held_on(node.meta.name);
    // What runs there may hold any of those that it had before.
    const auto before = std::ranges::find(told.cluster.nodes, node.meta.name, &SeenNode::name);
    if (least > 0 && before != told.cluster.nodes.end()) least = std::max(least, before->num_gpus);
    if (seen.num_gpus < least) {
      if (seen.state == SeenNodeState::Up) {
        seen.state = SeenNodeState::Drained;
        seen.reason = fmt::format("offers {} GPUs of {}, and some are held", seen.num_gpus, least);
      }
      seen.num_gpus = least;
    }
    // Its sleep is the core's own: it wakes the node when it is needed.
    if (rules.sleeps && (is_asleep(node) || waking_since(node) >= 0)) {
      seen.state = SeenNodeState::Up;
      seen.reason.clear();
    }
    seen.cores = static_cast<int32_t>(
        std::clamp<int64_t>((node.cpu_milli - on.cpu_milli) / kMilli, 1, INT32_MAX));
    const int64_t steps = (on.mem_bytes + kMemoryStep - 1) / kMemoryStep;
    seen.mem_bytes = std::max<int64_t>(node.mem_bytes - steps * kMemoryStep, 1);
    view.picture.cluster.nodes.push_back(std::move(seen));
  }
  for (const auto& [name, on] : pods) {
    if (objects.nodes.contains("/" + name) || !on.has_ours) continue;
    view.picture.cluster.nodes.push_back({.name = name,
                                          .num_gpus = held_on(name),
                                          .state = SeenNodeState::Drained,
                                          .reason = "its Node object is gone, and its pods are not",
                                          .silent = true});
  }
  std::ranges::sort(view.picture.cluster.nodes, {}, &SeenNode::name);
}

void set_partitions(const std::map<std::string, Gang>& gangs, ClosedNodes& closed, View& view) {
  constexpr size_t kMost = 32;
  std::vector<Wanted> wanted;
  for (const auto& [id, gang] : gangs) {
    const Pod& pod = gang.pods.empty() && !gang.over.empty() ? *gang.over.front() : pod_of(gang);
    const Place& place = closed.of(gang, pod);
    if (place.name.empty() || place.nowhere != nullptr) continue;
    wanted.push_back({.name = pod.meta.space + "/" + place.name, .place = &place, .id = id});
  }
  if (wanted.empty()) return;
  std::ranges::stable_sort(wanted, {}, [&](const Wanted& each) { return rank_of(each, view); });
  std::map<std::string, const Place*> taken;
  for (const Wanted& each : wanted) {
    if (taken.size() < kMost) taken.emplace(each.name, each.place);
    const auto job = view.picture.jobs.find(each.id);
    if (job == view.picture.jobs.end()) continue;
    if (taken.contains(each.name)) {
      job->second.spec.partition = each.name;
    } else if (job->second.blocked.empty() && view.stands.at(each.id).stand == Stand::Held) {
      job->second.blocked = fmt::format(
          "jobs with {} other node selectors, affinities or tolerations wait before it", kMost);
    }
  }
  for (SeenNode& node : view.picture.cluster.nodes) {
    for (const auto& [name, place] : taken) {
      if (closed.is_open(*place, node.name)) node.partitions.push_back(name);
    }
    // A node without any name would be in all partitions.
    if (node.partitions.empty()) node.partitions.emplace_back();
  }
}

}  // namespace goban::live::engine::kubernetes
