#include <algorithm>
#include <map>

#include "core/scheduler/core_image.hpp"

namespace goban::core::scheduler {
namespace {

template <typename Id>
Id new_number(std::span<const Id> numbers, Id old) {
  return old.index() < numbers.size() ? numbers[old.index()] : Id{};
}

/// Converts a set and sorts its members with their slowdowns. False: a member became unknown.
bool renumber_set(knowledge::MeasuredSet& set, std::span<const model::AppId> apps,
                  std::span<const knowledge::GpuTypeId> gpu_types) {
  std::vector<std::pair<model::AppId, double>> members;
  for (size_t i = 0; i < set.size; ++i) {
    members.emplace_back(new_number(apps, set.apps[i]), set.slowdown[i]);
    if (!members.back().first.valid()) return false;
  }
  std::ranges::sort(members);
  for (size_t i = 0; i < members.size(); ++i) {
    std::tie(set.apps[i], set.slowdown[i]) = members[i];
  }
  set.gpu_type = new_number(gpu_types, set.gpu_type);
  return set.gpu_type.valid();
}

void renumber_memory(policy::SharingMemory::Image& memory, std::span<const model::AppId> apps,
                     std::span<const knowledge::GpuTypeId> gpu_types) {
  std::erase_if(memory.learned,
                [&](knowledge::MeasuredSet& set) { return !renumber_set(set, apps, gpu_types); });
  std::map<uint64_t, uint32_t> broken;
  for (const auto& [pair, times] : memory.broken) {
    const auto [one, other] = policy::SharingMemory::apps_of(pair);
    const model::AppId first = new_number(apps, one);
    const model::AppId second = new_number(apps, other);
    if (!first.valid() || !second.valid()) continue;
    broken[policy::SharingMemory::pair_of(first, second)] = times;
  }
  memory.broken.assign(broken.begin(), broken.end());
}

}  // namespace

void renumber(CoreImage& image, std::span<const model::AppId> apps,
              std::span<const knowledge::GpuTypeId> gpu_types) {
  for (CoreImage::Job& job : image.jobs) {
    job.state.request.app = new_number(apps, job.state.request.app);
  }
  if (image.tenants) {
    for (model::TenantTraits& traits : image.tenants->traits) {
      traits.app = new_number(apps, traits.app);
    }
  }
  if (image.sharing) renumber_memory(image.sharing->memory, apps, gpu_types);
}

void renumber(CoreImage& image, const PeopleNumbers& numbers) {
  const auto change = [](const auto& of, auto& id) { id = new_number(std::span(of), id); };
  for (CoreImage::Job& job : image.jobs) {
    model::JobRequest& request = job.state.request;
    change(numbers.users, request.user);
    change(numbers.accounts, request.account);
    change(numbers.partitions, request.partition);
    change(numbers.qos, request.qos);
    if (!numbers.models.empty()) change(numbers.models, request.model);
  }
  for (Accounts::Usage& usage : image.usages.associations) {
    change(numbers.users, usage.user);
    change(numbers.accounts, usage.account);
  }
  for (Accounts::Usage& usage : image.usages.accounts) change(numbers.accounts, usage.account);
}

void renumber(CoreImage& image, const ClusterNumbers& numbers, const model::Cluster& cluster) {
  const auto change = [](const auto& of, auto& ids) {
    for (auto& id : ids) id = new_number(std::span(of), id);
    std::erase_if(ids, [](auto id) { return !id.valid(); });
  };
  for (CoreImage::Job& job : image.jobs) {
    change(numbers.gpus, job.last_gpus);
    change(numbers.gpus, job.allocation.gpus);
    change(numbers.nodes, job.allocation.hosts);
    job.allocation.reason.level = static_cast<uint8_t>(cluster.span_level(job.allocation.gpus));
  }
  for (PromisedNodes::Promise& each : image.promises) change(numbers.nodes, each.nodes);
  std::erase_if(image.promises, [](const auto& each) { return each.nodes.empty(); });
  for (CoreImage::Found& each : image.found) {
    each.gpu = new_number(std::span(numbers.gpus), each.gpu);
    change(numbers.gpus, each.held.gpus);
    for (model::HostPart& part : each.held.hosts) {
      part.node = new_number(std::span(numbers.nodes), part.node);
    }
    std::erase_if(each.held.hosts, [](const auto& part) { return !part.node.valid(); });
  }
  std::erase_if(image.found,
                [](const auto& each) { return !each.job.valid() && !each.gpu.valid(); });
  std::ranges::sort(image.found, {},
                    [](const auto& each) { return std::pair(each.job, each.gpu); });

  const auto move_to = [](const auto& of, auto& values, size_t size) {
    std::remove_cvref_t<decltype(values)> moved(size);
    for (size_t old = 0; old < values.size() && old < of.size(); ++old) {
      if (of[old].valid()) moved[of[old].index()] = values[old];
    }
    values = std::move(moved);
  };
  const size_t num_nodes = cluster.nodes().size();
  move_to(numbers.nodes, image.nodes, num_nodes);
  move_to(numbers.nodes, image.node_power.states, num_nodes);
  std::vector<TimeNs> due(num_nodes, base::kNever);
  for (size_t old = 0; old < numbers.nodes.size() && old < image.node_power.due_ns.size(); ++old) {
    if (numbers.nodes[old].valid()) due[numbers.nodes[old].index()] = image.node_power.due_ns[old];
  }
  image.node_power.due_ns = std::move(due);
  image.num_gpus = cluster.num_gpus();
  image.tenants.reset();
  if (!image.sharing) return;
  SharingBooks::Image& sharing = *image.sharing;
  std::vector<int8_t> caps(cluster.num_gpus(), int8_t{-1});
  for (size_t old = 0; old < numbers.gpus.size() && old < sharing.caps.size(); ++old) {
    if (numbers.gpus[old].valid()) caps[numbers.gpus[old].index()] = sharing.caps[old];
  }
  sharing.caps = std::move(caps);
  sharing.observations.clear();
  sharing.due.clear();
  sharing.due_observed.clear();
  sharing.uncapped.clear();
}

}  // namespace goban::core::scheduler
