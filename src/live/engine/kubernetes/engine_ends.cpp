// How pods are ended: of gangs that are preempted or cancelled, in parts, or on a node that is
// gone.
#include <algorithm>
#include <set>
#include <utility>

#include "base/clock.hpp"
#include "live/engine/kubernetes/gang_stand.hpp"
#include "live/engine/kubernetes/gpu_holdings.hpp"
#include "live/engine/kubernetes/kubernetes_engine.hpp"
#include "live/engine/kubernetes/pod_facts.hpp"

namespace goban::live::engine::kubernetes {

using base::steady_ns;
using base::TimeNs;

KubernetesEngine::Outcome KubernetesEngine::send(std::vector<Write> writes) {
  spread(writes.size(), [&](Api& api, size_t i) {
    Write& write = writes[i];
    if (!may_write()) {
      write.answer.problem = kNotLeading;
      return;
    }
    write.answer = api.write(write.method, write.path, write.body);
  });
  Outcome out;
  for (const Write& write : writes) {
    note_answer(write.method, write.path, write.answer);
    // What is gone needs no second end; another object of the same name is not meant.
    const int status = write.answer.status;
    if (write.answer.fine() || status == kApiNotFound || status == kApiConflict) continue;
    out.problem = write.answer.problem;
    out.unsure = out.unsure || write.answer.unknown;
  }
  return out;
}

/// Of a gang with a Job or another object of its own.
KubernetesEngine::Outcome KubernetesEngine::set_suspended(const Gang& gang, bool suspended) {
  if (gang.group != nullptr) {
    return send({{.method = "PATCH",
                  .path = group_path(*gang.group),
                  .body = group_suspension_body(*gang.group, suspended)}});
  }
  return send({{.method = "PATCH",
                .path = work_path(gang.work->meta),
                .body = suspension_body(gang.work->meta, suspended)}});
}

KubernetesEngine::Outcome KubernetesEngine::take_back(const Gang& gang) {
  if (gang.bound == 0) return {};
  const bool has_owner = gang.group != nullptr || gang.work != nullptr;
  Outcome suspended = has_owner ? set_suspended(gang, true) : Outcome{};
  std::vector<Write> writes;
  for (const Pod* pod : gang.pods) {
    if (pod->node.empty() || pod->meta.deleting) continue;
    if (has_owner && !pod->owner_uid.empty()) continue;  // the owner ends those that it has
    evicted_.insert(pod->meta.uid);
    writes.push_back({.method = "POST",
                      .path = pod_path(pod->meta, "/eviction"),
                      .body = eviction_body(pod->meta)});
  }
  Outcome out = send(std::move(writes));
  return suspended.problem.empty() ? out : suspended;
}

KubernetesEngine::Outcome KubernetesEngine::cancel(const Gang& gang) {
  std::vector<Write> writes;
  const bool has_owner = gang.group != nullptr || gang.work != nullptr;
  if (gang.group != nullptr) {
    writes.push_back({.method = "DELETE",
                      .path = group_path(*gang.group),
                      .body = deletion_body(gang.group->meta)});
  } else if (gang.work != nullptr) {
    writes.push_back({.method = "DELETE",
                      .path = work_path(gang.work->meta),
                      .body = deletion_body(gang.work->meta)});
  }
  std::set<std::string> jobs;  // of a pod group: they would make new pods
  for (const Pod* pod : gang.pods) {
    if (has_owner && !pod->owner_uid.empty()) continue;  // they go with it
    if (gang.least != 0 && pod->owner_kind == kJob) {
      const Meta job{.space = pod->meta.space, .name = pod->owner_name, .uid = pod->owner_uid};
      if (jobs.insert(job.uid).second) {
        writes.push_back({.method = "DELETE", .path = work_path(job), .body = deletion_body(job)});
      }
      continue;
    }
    if (pod->meta.deleting) continue;
    writes.push_back(
        {.method = "DELETE", .path = pod_path(pod->meta), .body = deletion_body(pod->meta)});
  }
  return send(std::move(writes));
}

KubernetesEngine::Outcome KubernetesEngine::mark(const Gang& gang, RunId run) {
  std::vector<Write> writes;
  for (const Pod* pod : gang.pods) {
    if (pod->node.empty()) continue;
    writes.push_back({.method = "PATCH",
                      .path = pod_path(pod->meta),
                      .body = mark_body(pod->meta, {options_.epoch, run})});
  }
  return send(std::move(writes));
}

void KubernetesEngine::hurry(const Gangs& gangs) {
  constexpr TimeNs kAgain_ns = 5 * base::kSecond;
  const TimeNs now_ns = steady_ns();
  std::set<std::string> there;
  std::map<std::string, TimeNs> hurried_ns;
  std::vector<Write> writes;
  for (const auto& [id, gang] : gangs) {
    for (const Pod* pod : gang.pods) {
      if (evicted_.contains(pod->meta.uid)) there.insert(pod->meta.uid);
    }
    for (const Pod* pod : slow_to_end(gang, evicted_, base::wall_ns(), options_.grace_ns)) {
      const auto before = hurried_ns_.find(pod->meta.uid);
      const bool is_new = before == hurried_ns_.end() || before->second + kAgain_ns < now_ns;
      hurried_ns[pod->meta.uid] = is_new ? now_ns : before->second;
      if (!is_new) continue;
      writes.push_back({.method = "DELETE",
                        .path = pod_path(pod->meta),
                        .body = hurry_body(pod->meta, options_.grace_ns)});
    }
  }
  evicted_ = std::move(there);
  hurried_ns_ = std::move(hurried_ns);
  (void)send(std::move(writes));
}

bool KubernetesEngine::may_remove(const Pod& pod, const Gang& gang) {
  if (gang.group == nullptr && gang.work == nullptr) return true;
  if (!gang.is_suspended()) {
    (void)set_suspended(gang, true);  // a later look shows it
    return false;
  }
  // The Job's controller counts a pod as failed that is gone before it saw the suspension.
  return gang.work == nullptr || pod.meta.deleting;
}

void KubernetesEngine::remove_fenced(const Objects& objects, const Gangs& gangs) {
  constexpr TimeNs kAgain_ns = 5 * base::kSecond;
  const TimeNs now_ns = steady_ns();
  for (auto each = fenced_.begin(); each != fenced_.end();) {
    auto& [node, fenced] = *each;
    if (fenced.removed_ns != base::kNever && now_ns < fenced.removed_ns + kAgain_ns) {
      ++each;
      continue;
    }
    const std::vector<const Pod*> left = left_on(objects, node, fenced.at_ns, options_.rules);
    // Until nothing is left, or the node is back.
    if (left.empty()) {
      each = fenced_.erase(each);
      continue;
    }
    std::set<const Pod*> kept;
    for (const auto& [id, gang] : gangs) {
      for (const Pod* pod : gang.pods) {
        const bool is_left = std::ranges::find(left, pod) != left.end();
        if (is_left && !may_remove(*pod, gang)) kept.insert(pod);
      }
    }
    std::vector<Write> writes;
    for (const Pod* pod : left) {
      if (kept.contains(pod)) continue;
      writes.push_back({.method = "DELETE",
                        .path = pod_path(pod->meta),
                        .body = deletion_body(pod->meta, Deletion::AtOnce)});
    }
    if (!writes.empty()) {
      fenced.removed_ns = now_ns;
      (void)send(std::move(writes));
    }
    ++each;
  }
}

void KubernetesEngine::name_fenced(View& view) {
  if (fenced_.empty()) return;
  for (auto& [id, gone] : view.picture.ended) {
    const auto told = told_.jobs.find(id);
    if (told == told_.jobs.end() || !told->second.managed || gone.how != GoneHow::Cancelled)
      continue;
    const std::vector<NodePart> ordered = ledger_.parts_of(id);
    const auto is_fenced = [this](const NodePart& part) { return fenced_.contains(part.node); };
    if (std::ranges::none_of(told->second.parts, is_fenced) &&
        std::ranges::none_of(ordered, is_fenced)) {
      continue;
    }
    gone = {.id = id, .how = GoneHow::NodeFailed, .detail = "its node was fenced"};
    view.stands[id] = {.reason = gone.detail};  // lost, not ended by a signal
  }
}

void KubernetesEngine::mend(const Gangs& gangs) {
  constexpr TimeNs kAgain_ns = 5 * base::kSecond;
  const TimeNs now_ns = steady_ns();
  std::erase_if(mended_ns_, [&](const auto& each) { return !gangs.contains(each.first); });
  std::erase_if(taken_back_ns_, [&](const auto& each) { return !gangs.contains(each.first); });
  const std::set<std::string> twice = doubled(gangs, options_.rules);
  for (const auto& [id, gang] : gangs) {
    if (twice.contains(id) || gang.is_left() || (started_.contains(id) && lacks_pods(gang))) {
      const auto before = taken_back_ns_.find(id);
      if (before != taken_back_ns_.end() && now_ns < before->second + kAgain_ns) continue;
      taken_back_ns_[id] = now_ns;
      (void)take_back(gang);
      continue;
    }
    const Meta* owner = gang.group != nullptr  ? &gang.group->meta
                        : gang.work != nullptr ? &gang.work->meta
                                               : nullptr;
    if (owner == nullptr) continue;
    const bool ours = gang.is_suspended() && !owner->note(kSuspendedNote).empty();
    const bool goes_on = ours && gang.pods.empty();
    const bool is_over = gang.group != nullptr ? gang.group->complete || gang.group->failed
                                               : gang.work->complete || gang.work->failed;
    // One pod of a gang that ran has gone: the others wait for it in vain.
    const bool is_broken = !gang.is_suspended() && !is_over && started_.contains(id) &&
                           gang.bound > 0 && gang.open > 0;
    if (!goes_on && !is_broken) continue;
    // A repeated patch is harmless; the bound is for an API server that refuses it.
    const auto before = mended_ns_.find(id);
    const bool same = before != mended_ns_.end() && before->second.first == goes_on;
    if (same && now_ns < before->second.second + kAgain_ns) continue;
    mended_ns_[id] = {goes_on, now_ns};
    (void)(is_broken ? take_back(gang) : set_suspended(gang, false));
  }
}

}  // namespace goban::live::engine::kubernetes
