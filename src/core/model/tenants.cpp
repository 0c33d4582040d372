#include "core/model/tenants.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace goban::core::model {

Tenants::Tenants(const Cluster& cluster) : cluster_(&cluster), group_of_gpu_(cluster.num_gpus()) {}

Tenants::Image Tenants::image() const {
  Image image{.traits = traits_,
              .groups = groups_,
              .free_groups = free_groups_,
              .kinds = kinds_,
              .free_kinds = free_kinds_,
              .kinds_by_size = kinds_by_size_,
              .groups_of_jobs = {groups_of_job_.begin(), groups_of_job_.end()},
              .changed = changed_,
              .recapped = recapped_};
  std::ranges::sort(image.groups_of_jobs);
  return image;
}

void Tenants::restore(const Image& image) {
  GOBAN_CHECK(groups_.empty() && traits_.empty());
  for (const TenantTraits& traits : image.traits) (void)intern(traits);
  groups_ = image.groups;
  free_groups_ = image.free_groups;
  for (size_t id = 0; id < groups_.size(); ++id) {
    for (const GpuId gpu : groups_[id].gpus) group_of_gpu_[gpu.index()] = GroupId(id);
  }
  kinds_ = image.kinds;
  free_kinds_ = image.free_kinds;
  kinds_by_size_ = image.kinds_by_size;
  for (const std::vector<KindId>& alike : kinds_by_size_) {
    for (const KindId id : alike) {
      const Kind& kind = kinds_[id.index()];
      kind_ids_[{kind.gpu_model, kind.num_gpus, kind.one_node, kind.traits}] = id;
    }
  }
  for (const auto& [job, groups] : image.groups_of_jobs) groups_of_job_[job] = groups;
  changed_ = image.changed;
  recapped_ = image.recapped;
}

TraitsId Tenants::intern(const TenantTraits& traits) {
  const auto [found, is_new] = traits_ids_.try_emplace(traits, TraitsId(traits_.size()));
  if (is_new) traits_.push_back(traits);
  return found->second;
}

std::span<const GroupId> Tenants::groups_of(JobId job) const {
  const auto found = groups_of_job_.find(job);
  return found == groups_of_job_.end() ? std::span<const GroupId>{} : found->second;
}

std::span<const KindId> Tenants::kinds_of_size(uint32_t num_gpus) const {
  if (num_gpus == 0 || num_gpus > kinds_by_size_.size()) return {};
  return kinds_by_size_[num_gpus - 1];
}

void Tenants::add(JobId job, TraitsId traits, std::span<const GpuId> gpus, base::TimeNs now) {
  GOBAN_CHECK(!gpus.empty() && !groups_of_job_.contains(job));
  std::vector<std::tuple<GroupId, uint32_t, GpuId>> order;  // group, GPU model, GPU
  order.reserve(gpus.size());
  for (const GpuId gpu : gpus) {
    const uint32_t gpu_model = cluster_->node(cluster_->node_of(gpu)).gpu_model;
    order.emplace_back(group_of_gpu_[gpu.index()], gpu_model, gpu);
  }
  std::ranges::sort(order);
  std::vector<GroupId>& mine = groups_of_job_[job];
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const auto [held, gpu_model, first] = order[begin];
    std::vector<GpuId> part;
    for (; end < order.size(); ++end) {
      const auto& [group, model, gpu] = order[end];
      if (group != held || model != gpu_model) break;
      part.push_back(gpu);
    }
    GroupId id = held;
    if (!held.valid()) {
      Group fresh;
      fresh.gpus = std::move(part);
      id = make_group(std::move(fresh));
    } else if (part.size() < group(held).gpus.size()) {
      id = split(held, std::move(part));
    } else {
      leave_kind(id);
    }
    Group& joined = groups_[id.index()];
    joined.jobs.push_back(job);
    joined.traits.push_back(traits);
    joined.changed_ns = now;
    enter_kind(id);
    mine.push_back(id);
    if (joined.jobs.size() > 1) mark_changed(joined);
  }
}

void Tenants::remove(JobId job, base::TimeNs now) {
  const auto found = groups_of_job_.find(job);
  if (found == groups_of_job_.end()) return;
  const std::vector<GroupId> mine = std::move(found->second);
  groups_of_job_.erase(found);
  for (const GroupId id : mine) {
    Group& left = groups_[id.index()];
    const auto at = std::ranges::find(left.jobs, job) - left.jobs.begin();
    leave_kind(id);
    left.jobs.erase(left.jobs.begin() + at);
    left.traits.erase(left.traits.begin() + at);
    left.changed_ns = now;
    if (left.jobs.empty()) {
      drop_group(id);
      continue;
    }
    enter_kind(id);
    mark_changed(left);
  }
  for (const GroupId id : mine) {
    if (!groups_[id.index()].jobs.empty()) merge_alike(id);
  }
}

void Tenants::set_locked(GroupId id, bool locked) {
  groups_[id.index()].locked = locked;
  if (!locked) merge_alike(id);
}

void Tenants::set_cap(GroupId id, int8_t cap) {
  Group& group = groups_[id.index()];
  if (group.cap == cap) return;
  group.cap = cap;
  mark_changed(group);
  mark_recapped(group);
}

std::vector<JobId> Tenants::take_changed() {
  std::ranges::sort(changed_);
  const auto twice = std::ranges::unique(changed_);
  changed_.erase(twice.begin(), twice.end());
  std::erase_if(changed_, [&](JobId job) { return !groups_of_job_.contains(job); });
  return std::exchange(changed_, {});
}

std::vector<GpuId> Tenants::take_recapped() {
  std::ranges::sort(recapped_);
  const auto twice = std::ranges::unique(recapped_);
  recapped_.erase(twice.begin(), twice.end());
  return std::exchange(recapped_, {});
}

GroupId Tenants::make_group(Group group) {
  if (free_groups_.empty()) {
    free_groups_.emplace_back(groups_.size());
    groups_.emplace_back();
  }
  const GroupId id = free_groups_.back();
  free_groups_.pop_back();
  for (const GpuId gpu : group.gpus) group_of_gpu_[gpu.index()] = id;
  groups_[id.index()] = std::move(group);
  return id;
}

GroupId Tenants::split(GroupId id, std::vector<GpuId> gpus) {
  leave_kind(id);
  Group part = groups_[id.index()];
  part.gpus = std::move(gpus);
  std::erase_if(groups_[id.index()].gpus,
                [&](GpuId gpu) { return std::ranges::binary_search(part.gpus, gpu); });
  enter_kind(id);
  const GroupId made = make_group(std::move(part));
  for (const JobId job : groups_[made.index()].jobs) groups_of_job_[job].push_back(made);
  return made;
}

void Tenants::drop_group(GroupId id) {
  Group& gone = groups_[id.index()];
  if (gone.cap >= 0) mark_recapped(gone);
  for (const GpuId gpu : gone.gpus) group_of_gpu_[gpu.index()] = GroupId{};
  gone = {};
  free_groups_.push_back(id);
}

void Tenants::merge_alike(GroupId id) {
  // Comparing in order suffices: groups that were split keep the order of their jobs.
  const std::vector<GroupId> candidates = groups_of_job_.at(groups_[id.index()].jobs.front());
  for (const GroupId other : candidates) {
    if (other == id || groups_[other.index()].jobs != groups_[id.index()].jobs) continue;
    if (groups_[other.index()].locked != groups_[id.index()].locked) continue;
    if (kind(groups_[other.index()].kind).gpu_model != kind(groups_[id.index()].kind).gpu_model) {
      continue;
    }
    leave_kind(id);
    leave_kind(other);
    Group& into = groups_[id.index()];
    std::vector<GpuId>& gpus = groups_[other.index()].gpus;
    for (const GpuId gpu : gpus) group_of_gpu_[gpu.index()] = id;
    into.gpus.insert(into.gpus.end(), gpus.begin(), gpus.end());
    std::ranges::sort(into.gpus);
    if (into.cap != groups_[other.index()].cap) {
      into.cap = -1;
      mark_changed(into);
      mark_recapped(into);
    }
    into.changed_ns = std::max(into.changed_ns, groups_[other.index()].changed_ns);
    for (const JobId job : into.jobs) std::erase(groups_of_job_.at(job), other);
    groups_[other.index()] = {};
    free_groups_.push_back(other);
    enter_kind(id);
  }
}

void Tenants::enter_kind(GroupId id) {
  Group& group = groups_[id.index()];
  const NodeId first = cluster_->node_of(group.gpus.front());
  const bool one_node = first == cluster_->node_of(group.gpus.back());
  std::vector<TraitsId> traits = group.traits;
  std::ranges::sort(traits);
  const auto size = static_cast<uint32_t>(group.gpus.size());
  KindKey key{cluster_->node(first).gpu_model, size, one_node, std::move(traits)};
  const auto [found, is_new] = kind_ids_.try_emplace(std::move(key));
  if (is_new) found->second = make_kind(found->first);
  group.kind = found->second;
  std::vector<GroupId>& groups = kinds_[group.kind.index()].groups;
  group.place_in_kind = static_cast<uint32_t>(groups.size());
  groups.push_back(id);
}

void Tenants::leave_kind(GroupId id) {
  const Group& group = groups_[id.index()];
  std::vector<GroupId>& groups = kinds_[group.kind.index()].groups;
  const GroupId last = groups.back();
  groups[group.place_in_kind] = last;
  groups_[last.index()].place_in_kind = group.place_in_kind;
  groups.pop_back();
  if (groups.empty()) drop_kind(group.kind);
}

KindId Tenants::make_kind(const KindKey& key) {
  if (free_kinds_.empty()) {
    free_kinds_.emplace_back(kinds_.size());
    kinds_.emplace_back();
  }
  const KindId id = free_kinds_.back();
  free_kinds_.pop_back();
  const auto& [gpu_model, size, one_node, traits] = key;
  if (kinds_by_size_.size() < size) kinds_by_size_.resize(size);
  std::vector<KindId>& alike = kinds_by_size_[size - 1];
  kinds_[id.index()] = {.gpu_model = gpu_model,
                        .num_gpus = size,
                        .one_node = one_node,
                        .traits = traits,
                        .groups = {},
                        .place_in_size = static_cast<uint32_t>(alike.size())};
  alike.push_back(id);
  return id;
}

void Tenants::drop_kind(KindId id) {
  Kind& gone = kinds_[id.index()];
  std::vector<KindId>& alike = kinds_by_size_[gone.num_gpus - 1];
  alike[gone.place_in_size] = alike.back();
  kinds_[alike.back().index()].place_in_size = gone.place_in_size;
  alike.pop_back();
  kind_ids_.erase({gone.gpu_model, gone.num_gpus, gone.one_node, gone.traits});
  gone = {};
  free_kinds_.push_back(id);
}

void Tenants::mark_changed(const Group& group) {
  changed_.insert(changed_.end(), group.jobs.begin(), group.jobs.end());
}

void Tenants::mark_recapped(const Group& group) {
  recapped_.insert(recapped_.end(), group.gpus.begin(), group.gpus.end());
}

}  // namespace goban::core::model
