#include "live/engine/kubernetes/gpu_holdings.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "live/engine/kubernetes/pod_facts.hpp"

namespace goban::live::engine::kubernetes {

namespace {

/// The GPUs of a node, while they are given to pods.
struct NodeGpus {
  bool is_exact = false;  ///< nobody knows which of them other pods hold
  std::vector<bool> taken{};
};

bool all_free(const NodeGpus& node, const std::vector<int32_t>& gpus) {
  return std::ranges::all_of(gpus, [&](int32_t gpu) {
    return gpu >= 0 && static_cast<size_t>(gpu) < node.taken.size() &&
           !node.taken[static_cast<size_t>(gpu)];
  });
}

void take(NodeGpus& node, const std::vector<int32_t>& gpus) {
  for (const int32_t gpu : gpus) {
    if (gpu >= 0 && static_cast<size_t>(gpu) < node.taken.size())
      node.taken[static_cast<size_t>(gpu)] = true;
  }
}

std::vector<int32_t> free_of(const NodeGpus& node, size_t most) {
  std::vector<int32_t> out;
  for (size_t gpu = node.taken.size(); gpu-- > 0 && out.size() < most;) {
    if (!node.taken[gpu]) out.push_back(static_cast<int32_t>(gpu));
  }
  std::ranges::sort(out);
  return out;
}

std::vector<int32_t> told_gpus(const cluster::Picture& told, const Pod& pod) {
  const auto found = told.jobs.find(id_of(pod.meta));
  if (found == told.jobs.end() || found->second.parts.size() != 1) return {};
  const NodePart& part = found->second.parts.front();
  return part.node == pod.node ? part.gpus : std::vector<int32_t>{};
}

}  // namespace

std::map<std::string, int32_t> gpus_held(const Objects& objects, const Rules& rules,
                                         const cluster::Picture& told) {
  struct OnNode {
    std::set<int32_t> named{};
    int32_t unnamed = 0;
  };
  std::map<std::string, OnNode> nodes;
  for (const auto& [key, pod] : objects.pods) {
    if (pod.node.empty() || pod.is_over() || !is_ours(pod.meta, pod.scheduler, rules)) continue;
    OnNode& node = nodes[pod.node];
    const auto gpus = parse_gpu_list(pod.meta.note(kGpusNote));
    if (gpus) node.named.insert(gpus->begin(), gpus->end());
    if (!gpus) node.unnamed += std::max(pod.gpus, 0);
  }
  for (const auto& [id, job] : told.jobs) {
    if (!job.managed || job.state != SeenState::Running) continue;
    for (const NodePart& part : job.parts) {
      nodes[part.node].named.insert(part.gpus.begin(), part.gpus.end());
    }
  }
  std::map<std::string, int32_t> out;
  for (const auto& [name, node] : nodes) {
    const int32_t last = node.named.empty() ? -1 : *node.named.rbegin();
    out[name] = std::max(last + 1, static_cast<int32_t>(node.named.size()) + node.unnamed);
  }
  return out;
}

Holdings holdings_of(const Objects& objects, const Rules& rules, const cluster::Picture& told,
                     const std::map<std::string, int32_t>& held) {
  std::map<std::string, NodeGpus> nodes;
  for (const auto& [key, node] : objects.nodes) {
    NodeGpus& gpus = nodes[node.meta.name];
    gpus.taken.resize(static_cast<size_t>(node.seen.num_gpus));
    gpus.is_exact = rules.indices == Indices::Exact || !node.devices.empty();
  }
  for (const auto& [name, count] : held) {
    std::vector<bool>& taken = nodes[name].taken;
    taken.resize(std::max(taken.size(), static_cast<size_t>(count)));
  }
  Holdings out;
  std::vector<const Pod*> pods;
  for (const auto& [key, pod] : objects.pods) {
    if (!pod.node.empty() && !pod.is_over() && pod.gpus > 0) pods.push_back(&pod);
  }
  std::ranges::sort(pods, {}, age_of);
  std::vector<const Pod*> unknown;
  for (const Pod* pod : pods) {
    auto gpus = is_ours(pod->meta, pod->scheduler, rules)
                    ? parse_gpu_list(pod->meta.note(kGpusNote))
                    : std::nullopt;
    // What is allocated to its claims says it, of others' pods, too.
    if (!pod->held.empty()) gpus = pod->held;
    // Where only their number counts, a device plug-in gives no GPU twice, whatever two daemons
    // say.
    const bool is_known = gpus && gpus->size() == static_cast<size_t>(pod->gpus) &&
                          (nodes[pod->node].is_exact || all_free(nodes[pod->node], *gpus));
    if (!is_known) {
      unknown.push_back(pod);
      continue;
    }
    take(nodes[pod->node], *gpus);
    out[pod->meta.uid] = std::move(*gpus);
  }
  std::erase_if(unknown, [&](const Pod* pod) {
    const NodeGpus& node = nodes[pod->node];
    if (node.is_exact) out[pod->meta.uid] = free_of(node, SIZE_MAX);
    return node.is_exact;
  });
  std::erase_if(unknown, [&](const Pod* pod) {
    std::vector<int32_t> gpus = told_gpus(told, *pod);
    if (gpus.size() != static_cast<size_t>(pod->gpus) || !all_free(nodes[pod->node], gpus)) {
      return false;
    }
    take(nodes[pod->node], gpus);
    out[pod->meta.uid] = std::move(gpus);
    return true;
  });
  for (const Pod* pod : unknown) {
    std::vector<int32_t> gpus = free_of(nodes[pod->node], static_cast<size_t>(pod->gpus));
    take(nodes[pod->node], gpus);
    out[pod->meta.uid] = std::move(gpus);
  }
  return out;
}

std::set<std::string> doubled(const std::map<std::string, Gang>& gangs, const Rules& rules) {
  std::set<std::string> out;
  for (const auto& [id, gang] : gangs) {
    if (std::ranges::any_of(gang.pods, &Pod::is_second)) out.insert(id);
  }
  if (rules.indices != Indices::Exact) return out;
  std::vector<std::pair<const Pod*, const Gang*>> pods;
  for (const auto& [id, gang] : gangs) {
    for (const Pod* pod : gang.pods) {
      if (!pod->node.empty()) pods.emplace_back(pod, &gang);
    }
  }
  std::ranges::sort(pods, {}, [](const auto& each) { return age_of(each.first); });
  std::map<std::pair<std::string, int32_t>, const Gang*> holders;
  for (const auto& [pod, gang] : pods) {
    for (const int32_t gpu :
         parse_gpu_list(pod->meta.note(kGpusNote)).value_or(std::vector<int32_t>{})) {
      const auto [holder, is_first] = holders.emplace(std::pair(pod->node, gpu), gang);
      // The core placed it beside others.
      if (is_first || pod->meta.note(kSharesNote) == "true") continue;
      if (!out.contains(holder->second->id)) out.insert(gang->id);
    }
  }
  return out;
}

}  // namespace goban::live::engine::kubernetes
