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
  }
  for (Accounts::Usage& usage : image.usages.associations) {
    change(numbers.users, usage.user);
    change(numbers.accounts, usage.account);
  }
  for (Accounts::Usage& usage : image.usages.accounts) change(numbers.accounts, usage.account);
}

}  // namespace goban::core::scheduler
