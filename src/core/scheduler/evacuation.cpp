#include "core/scheduler/evacuation.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/scheduler/decision.hpp"

namespace goban::core::scheduler {
namespace {

using policy::Evacuation;

/// Jobs that are connected by shared GPUs, and all these GPUs.
struct Household {
  std::set<JobId> jobs;
  std::vector<GpuId> gpus;  ///< ascending
};

class Search {
 public:
  Search(const State& state, const policy::PolicySet& policies, const SharingBooks& books,
         uint64_t seed)
      : state_(state),
        policies_(policies),
        books_(books),
        seed_(seed),
        cluster_(*state.speed().cluster),
        in_use_(state.resources()) {}

  std::optional<Evacuation> find() {
    const std::vector<NodeId> nodes = partly_used();
    if (nodes.size() < 2) return {};
    for (size_t i = 0; i < std::min(nodes.size(), kEvacuationsTried); ++i) {
      const int32_t held = held_on(nodes[i]);
      // Too few GPUs are free elsewhere; for nodes of equal size this does not depend on the node.
      if (in_use_.free_gpus() - state_.resources().rooms()[nodes[i].index()].gpus < held) break;
      const auto households = households_on(nodes[i]);
      if (!households) continue;
      auto evacuation = place(nodes[i], *households);
      if (evacuation && policies_.migration->pays(books_, *evacuation)) return evacuation;
    }
    return {};
  }

 private:
  [[nodiscard]] int32_t held_on(NodeId node) const {
    return static_cast<int32_t>(cluster_.node(node).num_gpus) -
           state_.resources().rooms()[node.index()].gpus;
  }

  /// Open, unreserved nodes with some GPUs held and some free, the least used first; all others are
  /// closed in `in_use_`.
  std::vector<NodeId> partly_used() {
    std::vector<NodeId> nodes;
    for (uint32_t i = 0; i < cluster_.nodes().size(); ++i) {
      const NodeId node(i);
      const Resources::NodeRoom& room = state_.resources().rooms()[i];
      if (!room.open) continue;
      const bool promised =
          state_.resources().promised().overlapping(node, {books_.now(), base::kNever}) != nullptr;
      if (room.gpus > 0 && held_on(node) > 0 && !promised) {
        nodes.push_back(node);
      } else {
        in_use_.close(node);
      }
    }
    std::ranges::stable_sort(nodes, {}, [this](NodeId node) { return held_on(node); });
    return nodes;
  }

  /// The jobs on GPUs of the node; nullopt if one of them may not be moved.
  std::optional<std::vector<Household>> households_on(NodeId id) const {
    const Tenants& tenants = state_.tenants();
    const model::Node& node = cluster_.node(id);
    std::vector<Household> out;
    std::set<JobId> seen;
    for (uint32_t i = node.first_gpu; i < node.end_gpu(); ++i) {
      const model::GroupId group = tenants.group_of(GpuId(i));
      if (!group.valid() || seen.contains(tenants.group(group).jobs.front())) continue;
      Household household;
      if (!gather(tenants.group(group).jobs.front(), id, household)) return {};
      seen.insert(household.jobs.begin(), household.jobs.end());
      std::ranges::sort(household.gpus);
      out.push_back(std::move(household));
    }
    // Host resources that remain held belong to typed jobs without GPUs, which cannot be moved.
    if (out.empty() || !node_is_theirs(id, out)) return {};
    std::ranges::stable_sort(out, std::ranges::greater{},
                             [](const Household& each) { return each.gpus.size(); });
    return out;
  }

  [[nodiscard]] bool node_is_theirs(NodeId id, const std::vector<Household>& households) const {
    size_t gpus = 0;
    for (const Household& each : households) gpus += each.gpus.size();
    return static_cast<int32_t>(gpus) == held_on(id) &&
           state_.resources().rooms()[id.index()].host == cluster_.node(id).host;
  }

  /// The job and, transitively, all jobs on its GPUs; false if one of them may not be moved.
  bool gather(JobId first, NodeId node, Household& household) const {
    const Tenants& tenants = state_.tenants();
    std::vector<JobId> todo{first};
    std::set<GpuId> gpus;
    while (!todo.empty()) {
      const JobId id = todo.back();
      todo.pop_back();
      if (!household.jobs.insert(id).second) continue;
      const Slot slot = state_.slot_of(id);
      if (!policies_.migration->may_move(books_, state_.job(slot))) return false;
      for (const GpuId gpu : state_.allocation(slot).gpus) {
        if (cluster_.node_of(gpu) != node) return false;
        gpus.insert(gpu);
        const auto& neighbours = tenants.group(tenants.group_of(gpu)).jobs;
        todo.insert(todo.end(), neighbours.begin(), neighbours.end());
      }
    }
    household.gpus.assign(gpus.begin(), gpus.end());
    return true;
  }

  /// Targets for all of them, if they fit.
  std::optional<Evacuation> place(NodeId node, const std::vector<Household>& households) const {
    Evacuation evacuation{.node = node, .moves = {}};
    Resources room = in_use_;
    room.close(node);
    for (const Household& household : households) {
      const model::JobState& first = state_.job(state_.slot_of(*household.jobs.begin()));
      model::JobRequest request = first.request;
      request.num_gpus = static_cast<int32_t>(household.gpus.size());
      Allocation to;
      const uint64_t seed = placement_seed(seed_, first.job, books_.now());
      if (!room.find(request, {books_.now(), base::kNever}, seed, to) ||
          !alike(household.gpus, to.gpus))
        return {};
      room.take(request, to);
      for (const JobId job : household.jobs) {
        evacuation.moves.push_back({&state_.job(state_.slot_of(job)), {}});
        for (const GpuId gpu : state_.allocation(state_.slot_of(job)).gpus) {
          const auto at = std::ranges::lower_bound(household.gpus, gpu) - household.gpus.begin();
          evacuation.moves.back().to.push_back(to.gpus[static_cast<size_t>(at)]);
        }
      }
    }
    return evacuation;
  }

  /// True if `to` is on one node with the same GPU model.
  [[nodiscard]] bool alike(std::span<const GpuId> from, std::span<const GpuId> to) const {
    const NodeId node = cluster_.node_of(to.front());
    return cluster_.node(node).gpu_model ==
               cluster_.node(cluster_.node_of(from.front())).gpu_model &&
           std::ranges::all_of(to, [&](GpuId gpu) { return cluster_.node_of(gpu) == node; });
  }

  const State& state_;
  const policy::PolicySet& policies_;
  const SharingBooks& books_;
  uint64_t seed_;
  const model::Cluster& cluster_;
  Resources in_use_;  ///< free resources of partly used nodes
};

}  // namespace

std::optional<Evacuation> find_evacuation(const State& state, const policy::PolicySet& policies,
                                          const SharingBooks& books, uint64_t seed) {
  return Search(state, policies, books, seed).find();
}

}  // namespace goban::core::scheduler
