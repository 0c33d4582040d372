#include "live/engine/kubernetes/pod_groups.hpp"

#include <algorithm>

#include "base/number.hpp"
#include "live/engine/kubernetes/object_fields.hpp"
#include "live/engine/kubernetes/pod_facts.hpp"

namespace goban::live::engine::kubernetes {

PodGroups::PodGroups(const Objects& objects, const Rules& rules) : objects_(objects) {
  for (const auto& [key, pod] : objects.pods) {
    if (pod.meta.labels.empty() || !is_ours(pod.meta, pod.scheduler, rules)) continue;
    if (const auto group = named_by(pod.meta, pod.meta.space)) {
      owners_[group->id].insert(pod.owner_uid);
    }
  }
  for (const auto& [key, work] : objects.works) {
    if (work.pod.meta.labels.empty() || !is_ours(work.meta, work.pod.scheduler, rules)) continue;
    if (const auto group = named_by(work.pod.meta, work.meta.space)) {
      owners_[group->id].insert(work.meta.uid);
    }
  }
}

std::optional<PodGroups::Found> PodGroups::named_by(const Meta& meta,
                                                    const std::string& space) const {
  Found out{.name = meta.label(kPodGroupLabel)};
  if (!out.name.empty()) {
    const auto group = objects_.pod_groups.find(space + "/" + out.name);
    if (group != objects_.pod_groups.end()) out.least = group->second.least;
  } else {
    out.name = meta.label(kGroupNameLabel);
    if (out.name.empty()) return std::nullopt;
    const auto least = base::parse_int(meta.label(kGroupSizeLabel));
    if (least && *least >= 1 && *least <= kPodsMost) out.least = static_cast<int32_t>(*least);
  }
  // The same also while its PodGroup is not known, as a gang that runs keeps its id.
  out.id = space + "/" + out.name + "/pod-group";
  return out;
}

bool PodGroups::needs_more(const Found& group, int32_t parallelism) const {
  if (group.least >= 0 && parallelism >= 0) return group.least > parallelism;
  const auto owners = owners_.find(group.id);
  return owners != owners_.end() && owners->second.size() > 1;
}

std::optional<PodGroups::Found> PodGroups::of(const Pod& pod) const {
  if (pod.meta.labels.empty()) return std::nullopt;
  auto found = named_by(pod.meta, pod.meta.space);
  if (!found || pod.owner_kind != kJob) return found;
  const auto work = objects_.works.find(pod.meta.space + "/" + pod.owner_name);
  const bool is_known = work != objects_.works.end() && work->second.meta.uid == pod.owner_uid;
  if (!needs_more(*found, is_known ? work->second.parallelism : -1)) return std::nullopt;
  return found;
}

bool PodGroups::has(const Work& work) const {
  if (work.pod.meta.labels.empty()) return false;
  const auto found = named_by(work.pod.meta, work.meta.space);
  return found && needs_more(*found, work.parallelism);
}

void leave_others(Gang& gang, RunId run, const Objects& objects) {
  const JobId job = gang.is_marked ? gang.mark.run.job : run.job;
  if (!job.valid()) {
    if (gang.bound == 0 && !gang.pods.empty()) gang.over.clear();
    return;
  }
  std::erase_if(gang.over, [&](const Pod* pod) {
    const auto mark = mark_of(*pod, gang.first_epoch);
    return mark && mark->run.job != job;
  });
  // A pod that is being removed was stopped: others may follow in its place.
  std::set<std::string> owners;
  TimeNs bound_ns = base::kNever;
  for (const Pod* pod : gang.over) {
    if (pod->meta.deleting) continue;
    owners.insert(pod->owner_uid);
    if (pod->bound_ns >= 0) bound_ns = std::min(bound_ns, pod->bound_ns);
  }
  if (gang.bound > 0 || owners.empty()) return;
  const auto goes_on = [&](const Pod* pod) {
    if (pod->owner_uid.empty()) return false;
    const auto work = objects.works.find(pod->meta.space + "/" + pod->owner_name);
    const bool is_older = pod->owner_kind == kJob && work != objects.works.end() &&
                          work->second.meta.created_ns <= bound_ns;
    return is_older || owners.contains(pod->owner_uid);
  };
  if (std::ranges::any_of(gang.pods, goes_on)) return;
  gang.is_followed = !gang.pods.empty();
  gang.pods.clear();
  gang.open = 0;
}

void leave_made_anew(Gang& gang) {
  const bool ends = std::ranges::all_of(
      gang.pods, [](const Pod* pod) { return pod->node.empty() || pod->meta.deleting; });
  // What another daemon left in parts is not whole: all of its pods are its own.
  if (gang.is_left() && !ends) return;
  const size_t removed = std::erase_if(gang.pods, [&](const Pod* pod) {
    const bool is_next = pod->node.empty() && pod->owner_uid.empty();
    if (is_next && !pod->meta.deleting) --gang.open;
    return is_next;
  });
  gang.is_followed = gang.is_followed || (removed > 0 && gang.pods.empty());
}

void leave_late(Gang& gang, int32_t needed) {
  if (gang.bound == 0 || gang.bound < needed) return;
  TimeNs newest_ns = 0;
  for (const Pod* pod : gang.pods) {
    if (!pod->node.empty()) newest_ns = std::max(newest_ns, pod->meta.created_ns);
  }
  std::erase_if(gang.pods, [&](const Pod* pod) {
    const bool is_late = pod->node.empty() && pod->meta.created_ns > newest_ns;
    if (is_late && !pod->meta.deleting) --gang.open;
    return is_late;
  });
}

void settle_pod_group(Gang& gang) {
  gang.size = -1;
  if (gang.least < 0) return;
  const auto well = std::ranges::count(gang.over, Phase::Succeeded, &Pod::phase);
  const int32_t needed = std::max(0, gang.least - static_cast<int32_t>(well));
  leave_late(gang, needed);
  gang.size = std::max(needed, gang.bound + gang.open);
}

}  // namespace goban::live::engine::kubernetes
