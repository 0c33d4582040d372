#include "live/engine/kubernetes/gangs.hpp"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <tuple>

#include "base/number.hpp"
#include "core/model/import/kubernetes_nodes.hpp"
#include "live/engine/kubernetes/closed_nodes.hpp"
#include "live/engine/kubernetes/device_books.hpp"
#include "live/engine/kubernetes/gang_stand.hpp"
#include "live/engine/kubernetes/gpu_holdings.hpp"
#include "live/engine/kubernetes/node_list.hpp"
#include "live/engine/kubernetes/object_fields.hpp"
#include "live/engine/kubernetes/pod_facts.hpp"
#include "live/engine/kubernetes/pod_groups.hpp"
#include "live/job/stage_paths.hpp"

namespace goban::live::engine::kubernetes {

namespace {

using cluster::JobStand;
using cluster::Stand;

constexpr std::string_view kRealm = "kubernetes";
constexpr const char* kDeleted = "deleted in Kubernetes";

void put(Gang& gang, const Pod& pod) {
  if (pod.is_over()) {
    gang.over.push_back(&pod);
    return;
  }
  gang.pods.push_back(&pod);
  if (pod.node.empty()) {
    gang.open += pod.meta.deleting ? 0 : 1;
    return;
  }
  ++gang.bound;
  gang.is_leaving = gang.is_leaving || pod.meta.deleting;
  if (const auto mark = mark_of(pod, gang.first_epoch)) {
    // Of pods of several runs, the latest.
    if (!gang.is_marked || mark->run > gang.mark.run) gang.mark = *mark;
    gang.is_marked = true;
  } else if (!pod.meta.note(kRunNote).empty()) {
    gang.is_foreign = true;
  }
}

/// Of a gang of another state folder: pods of the run of its first pod that has a node.
int32_t placed_of(const Gang& gang) {
  if (!gang.is_foreign || gang.is_marked) return gang.bound;
  std::string run;
  int32_t placed = 0;
  for (const auto* pods : {&gang.pods, &gang.over}) {
    for (const Pod* pod : *pods) {
      const std::string mark = pod->node.empty() ? "" : pod->meta.note(kRunNote);
      if (run.empty()) run = mark;
      placed += !mark.empty() && mark == run ? 1 : 0;
    }
  }
  return placed;
}

/// Pods that a Job has at a time, less those that have succeeded.
int32_t size_of(const Work& work) {
  const int32_t all = work.completions < 0 ? work.parallelism : work.completions;
  return std::min(work.parallelism, std::max(0, all - work.succeeded));
}

/// The object that made this pod, or this Job; null: none that is known.
const Group* group_of(const Objects& objects, const Meta& meta, std::string_view owner) {
  const auto find = [&](const std::map<std::string, Group>& all, std::string_view label) {
    const auto found = all.find(meta.space + "/" + meta.label(label));
    return found == all.end() ? nullptr : &found->second;
  };
  if (!meta.label(kJobSetLabel).empty()) return find(objects.job_sets, kJobSetLabel);
  if (meta.label(kTrainingLabel).empty()) return nullptr;
  if (owner == "PyTorchJob") return find(objects.pytorch_jobs, kTrainingLabel);
  if (const Group* group = find(objects.mpi_jobs, kTrainingLabel)) return group;
  return find(objects.mpi2_jobs, kTrainingLabel);
}

int32_t size_of(const Group& group, const Gang& gang) {
  const auto well = std::ranges::count(gang.over, Phase::Succeeded, &Pod::phase);
  return std::max(0, group.size - static_cast<int32_t>(well));
}

int32_t size_of(const Gang& gang) {
  const std::vector<const Pod*>& pods = gang.pods.empty() ? gang.over : gang.pods;
  if (!pods.empty() && is_of_object(*pods.front())) return -1;
  if (pods.empty() || pods.front()->meta.label(kGangLabel).empty()) return 1;
  const auto size = base::parse_int(pods.front()->meta.label(kGangSizeLabel));
  if (!size || *size < 1 || *size > kPodsMost) return -1;
  const auto well = std::ranges::count(gang.over, Phase::Succeeded, &Pod::phase);
  return std::max(0, static_cast<int32_t>(*size - well));
}

/// Why nobody knows how many pods the gang needs.
std::string unknown_size(const Gang& gang) {
  const Pod* pod = !gang.pods.empty() ? gang.pods.front() : nullptr;
  if (pod != nullptr && gang.least == 0 && is_of_object(*pod)) {
    return fmt::format("its {} is not known", pod->owner_kind);
  }
  const bool has_object = pod == nullptr || !pod->meta.label(kPodGroupLabel).empty();
  if (gang.least < 0 && has_object) {
    return fmt::format("its PodGroup {} is not known", gang.name);
  }
  return fmt::format("its pods' label {} is not a whole number from 1 to {}",
                     gang.least < 0 ? kGroupSizeLabel : kGangSizeLabel, kPodsMost);
}

std::string blocked_by(const Gang& gang) {
  if (gang.is_suspended()) {
    const Meta& meta = gang.group != nullptr ? gang.group->meta : gang.work->meta;
    const char* kind = gang.group != nullptr ? facts_of(gang.group->kind).kind : "Job";
    return meta.note(kSuspendedNote).empty() ? fmt::format("its {} is suspended", kind)
                                             : "its pods are being taken back";
  }
  if (gang.work != nullptr && gang.work->completions >= 0 &&
      gang.work->completions != gang.work->parallelism) {
    return "its Job has other completions than parallelism";
  }
  if (gang.size < 0) return unknown_size(gang);
  if (gang.bound > 0) return "its pods are being taken back";
  if (gang.open != gang.size) return fmt::format("{} of {} pods exist", gang.open, gang.size);
  int32_t gpus = 0;
  for (const Pod* pod : gang.pods) {
    if (pod->gated) return "a scheduling gate holds it";
    if (!pod->unclear.empty()) return fmt::format("Goban does not carry out {}", pod->unclear);
    if (!pod->waits.empty()) return pod->waits;
    if (pod->gpus == 0) continue;
    if (gpus != 0 && pod->gpus != gpus) return "its pods need different numbers of GPUs";
    gpus = pod->gpus;
  }
  return {};
}

int8_t class_of_label(const std::string& label) {
  const bool known = label.size() == 1 && label[0] >= 'A' && label[0] <= 'Z';
  return known ? static_cast<int8_t>(label[0] - 'A') : int8_t{-1};
}

void set_request(const Gang& gang, const Pod& pod, job::JobSpec& spec) {
  int32_t with_gpus = 0;
  for (const Pod* each : gang.pods) with_gpus += each->gpus > 0 ? 1 : 0;
  if (gang.pods.empty() && pod.gpus > 0) with_gpus = std::max(gang.size, 1);
  spec.num_gpus = with_gpus * std::max(pod.gpus, 0);
  spec.instances = std::max(with_gpus, 1);
  spec.cores = static_cast<int32_t>((pod.cpu_milli + kMilli - 1) / kMilli);
  spec.mem_bytes = pod.mem_bytes;
}

/// Only what can be evicted and starts again may share, so that it can be undone.
void set_sharing(const Gang& gang, const Pod& pod, const Rules& rules, job::JobSpec& spec) {
  using core::model::SharingRequest;
  const bool may = rules.shares && rules.indices == Indices::Exact && spec.requeue &&
                   pod.claims.empty() && pod.meta.label(kShareLabel) == "true";
  const bool all = std::ranges::all_of(gang.pods, [](const Pod* each) {
    return each->gpus == 0 || each->meta.label(kShareLabel) == "true";
  });
  spec.training.sharing = may && all ? SharingRequest::Yes : SharingRequest::No;
  const std::string memory = pod.meta.label("goban.dev/gpu-memory");
  spec.training.gpu_mem_bytes = core::model::parse_kubernetes_quantity(memory).value_or(0);
}

job::JobSpec spec_of(const Gang& gang, const Pod& pod, ClosedNodes& closed, const Rules& rules) {
  job::JobSpec spec;
  const Meta& meta = gang.group != nullptr  ? gang.group->meta
                     : gang.work != nullptr ? gang.work->meta
                                            : pod.meta;
  spec.name = gang.name.empty() ? meta.name : gang.name;
  spec.owner = {.user = meta.space, .realm = std::string(kRealm)};
  spec.partition = meta.space;
  spec.priority = pod.priority;
  set_request(gang, pod, spec);
  if (gang.work != nullptr) spec.walltime_limit_ns = gang.work->deadline_s * base::kSecond;
  spec.model = pod.meta.label("goban.dev/model");
  spec.app_class = class_of_label(pod.meta.label("goban.dev/class"));
  spec.requeue = !pod.owner_kind.empty() || gang.work != nullptr || gang.group != nullptr;
  spec.preemptible = spec.requeue && pod.meta.label("goban.dev/preemptible") == "true";
  set_sharing(gang, pod, rules, spec);
  spec.exclude_nodes = closed.of(gang, pod).closed;
  return spec;
}

/// Staging, as annotations of the Job, the pod group or the pod say. Returns what is wrong.
std::string read_staging(const Gang& gang, const Pod& pod, job::JobSpec& spec) {
  const Meta& meta = gang.work != nullptr && !gang.work->meta.staging.empty()     ? gang.work->meta
                     : gang.group != nullptr && !gang.group->meta.staging.empty() ? gang.group->meta
                                                                                  : pod.meta;
  std::string words;
  const auto add = [&](const char* note, const char* word) {
    const auto found = meta.staging.find(std::string("staging.goban.dev/") + note);
    if (found == meta.staging.end()) return;
    // Several paths are in lines of their own.
    std::string_view text = found->second;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      if (end > 0) words += std::string(word) + "=" + std::string(text.substr(0, end)) + ";";
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  };
  add("in", "stage-in");
  add("out", "stage-out");
  add("out-on", "stage-out-on");
  return job::read_stage_words(words, spec);
}

/// `told`: as it was told last; null: never.
void add_gang(const std::string& id, const Gang& gang, const JobStand& stand, ClosedNodes& closed,
              const Rules& rules, const JobSeen* told, View& view) {
  if (stand.stand == Stand::Ended) {
    JobGone gone{.id = id, .how = GoneHow::Completed, .exit_code = stand.exit_code};
    gone.signal = stand.signal;
    if (stand.exit_code != 0 || stand.signal != 0) gone.how = GoneHow::Failed;
    if (stand.timed_out) gone.how = GoneHow::TimedOut;
    if (stand.out_of_memory) gone.how = GoneHow::OutOfMemory;
    if (gang.work != nullptr) gone.detail = gang.work->reason;
    if (!stand.reason.empty()) gone.detail += (gone.detail.empty() ? "" : ": ") + stand.reason;
    if (is_of_deleted_job(gang)) {
      gone.how = GoneHow::Cancelled;
      gone.detail = "its Job was deleted";
    } else if (stand.cancelled) {
      gone.how = GoneHow::Cancelled;
      gone.detail = kDeleted;
    }
    view.picture.ended[id] = std::move(gone);
    return;
  }
  const Pod& pod = pod_of(gang);
  JobSeen seen{.id = id, .managed = true};
  const bool runs = stand.stand == Stand::Running;
  seen.spec = spec_of(gang, pod, closed, rules);
  const std::string wrong = read_staging(gang, pod, seen.spec);
  seen.submit_ns = pod.meta.created_ns;
  // Pods whose Job is gone are what is left of it, not what it was.
  const bool is_plain = gang.work == nullptr && gang.group == nullptr;
  if (is_plain && (gang.is_moved || (gang.least == 0 && is_of_object(pod)))) {
    if (!gang.is_moved) seen.spec.name = pod.owner_name;
    if (told != nullptr && !told->spec.name.empty()) {
      seen.spec = told->spec;
      seen.submit_ns = told->submit_ns;
    }
    if (pod.owner_kind.empty()) seen.spec.requeue = seen.spec.preemptible = false;
  }
  if (gang.work != nullptr) seen.submit_ns = gang.work->meta.created_ns;
  if (gang.group != nullptr) seen.submit_ns = gang.group->meta.created_ns;
  if (runs) {
    seen.state = SeenState::Running;
    seen.run = stand.run;
    seen.start_ns = stand.start_ns;
    seen.parts = stand.parts;
  } else if (stand.stand == Stand::Held) {
    seen.blocked = blocked_by(gang);
    const bool is_unread = seen.blocked.empty() && !wrong.empty();
    if (is_unread) seen.blocked = "its annotations cannot be read: " + wrong;
    if (seen.blocked.empty()) seen.blocked = closed.hindrance(gang, pod);
  }
  view.picture.jobs[id] = std::move(seen);
}

void add_other(const Pod& pod, const Holdings& holdings, View& view) {
  Gang gang{.id = id_of(pod.meta), .pods = {&pod}, .bound = 1};
  JobSeen seen{.id = gang.id, .state = SeenState::Running};
  seen.spec.name = pod.meta.name;
  seen.spec.owner = {.user = pod.meta.space, .realm = std::string(kRealm)};
  seen.spec.partition = pod.meta.space;
  seen.spec.num_gpus = pod.gpus;
  seen.spec.priority = pod.priority;
  seen.submit_ns = pod.meta.created_ns;
  seen.start_ns = pod.start_ns;
  seen.parts = parts_of(gang, holdings);
  view.picture.jobs[gang.id] = std::move(seen);
}

bool is_on_silent_node(const Gang& gang, const Objects& objects) {
  return std::ranges::any_of(gang.pods, [&](const Pod* pod) {
    if (pod->node.empty()) return false;
    const auto node = objects.nodes.find("/" + pod->node);
    return node == objects.nodes.end() || !node->second.is_ready;
  });
}

/// GPUs that nobody uses, and that are not free either.
void add_idle(const IdleClaim& idle, View& view) {
  const Meta& meta = idle.claim->meta;
  JobSeen seen{.id = id_of(meta), .state = SeenState::Running};
  seen.spec.name = meta.name;
  seen.spec.owner = {.user = meta.space, .realm = std::string(kRealm)};
  seen.spec.partition = meta.space;
  for (const NodePart& part : idle.parts) {
    seen.spec.num_gpus += static_cast<int32_t>(part.gpus.size());
  }
  seen.submit_ns = seen.start_ns = meta.created_ns;
  seen.parts = idle.parts;
  view.picture.jobs[seen.id] = std::move(seen);
}

}  // namespace

const Pod& pod_of(const Gang& gang) {
  for (const Pod* pod : gang.pods) {
    if (pod->gpus > 0) return *pod;
  }
  if (!gang.pods.empty()) return *gang.pods.front();
  if (gang.work != nullptr) return gang.work->pod;
  static const Pod none;  // of a group that has no pods yet
  return gang.over.empty() ? none : *gang.over.front();
}

std::map<std::string, Gang> gangs_of(const Objects& objects, const Rules& rules,
                                     const KnownRuns& runs) {
  std::map<std::string, Gang> gangs;
  std::map<RunId, const std::string*> holders;
  for (const auto* known : {&runs.started, &runs.latest}) {
    for (const auto& [id, run] : *known) holders[run] = &id;
  }
  const PodGroups pod_groups(objects, rules);
  for (const auto& [key, work] : objects.works) {
    if (!is_ours(work.meta, work.pod.scheduler, rules)) continue;
    // A part of a larger gang.
    if (group_of(objects, work.meta, kJob) != nullptr || pod_groups.has(work)) continue;
    Gang& gang = gangs[id_of(work.meta)];
    gang.work = &work;
    gang.first_epoch = rules.first_epoch;
  }
  for (const auto& [key, pod] : objects.pods) {
    if (!is_ours(pod.meta, pod.scheduler, rules)) continue;
    std::string id = plain_id_of(pod);
    std::string name = is_of_object(pod) ? "" : pod.meta.label(kGangLabel);
    int32_t least = 0;
    const Group* group = group_of(objects, pod.meta, pod.owner_kind);
    if (group != nullptr) {
      id = id_of(group->meta);
      name.clear();
    } else if (const auto found = pod_groups.of(pod)) {
      std::tie(id, name, least) = std::tie(found->id, found->name, found->least);
    }
    const auto mark = pod.node.empty() ? std::nullopt : mark_of(pod, rules.first_epoch);
    const auto holder = mark ? holders.find(mark->run) : holders.end();
    const bool is_moved = holder != holders.end() && *holder->second != id;
    Gang& gang = gangs[is_moved ? *holder->second : id];
    gang.first_epoch = rules.first_epoch;
    if (is_moved) {
      gang.is_moved = true;
    } else {
      gang.group = group;
      gang.name = name;
      gang.least = least;
    }
    put(gang, pod);
  }
  for (const auto* all :
       {&objects.mpi_jobs, &objects.mpi2_jobs, &objects.pytorch_jobs, &objects.job_sets}) {
    for (const auto& [key, group] : *all) {
      if (group.meta.note(kSuspendedNote).empty()) continue;
      Gang& gang = gangs[id_of(group.meta)];
      gang.group = &group;
      gang.first_epoch = rules.first_epoch;
    }
  }
  for (auto& [id, gang] : gangs) {
    gang.id = id;
    const bool is_plain = gang.work == nullptr && gang.group == nullptr;
    if (is_plain) {
      const auto run = runs.latest.find(id);
      leave_others(gang, run == runs.latest.end() ? RunId{} : run->second, objects);
    }
    gang.placed = placed_of(gang);
    gang.size = gang.work != nullptr ? size_of(*gang.work) : size_of(gang);
    if (gang.group != nullptr) gang.size = size_of(*gang.group, gang);
    if (gang.least != 0) settle_pod_group(gang);
    if (is_plain && gang.is_moved) gang.size = gang.bound;
    const bool was_whole = gang.is_foreign && !gang.is_marked && gang.placed >= gang.size;
    if (is_plain && (runs.started.contains(id) || was_whole)) leave_made_anew(gang);
    if (is_plain && gang.least == 0 && !gang.name.empty()) leave_late(gang, gang.size);
    gang.is_leaving =
        gang.is_leaving || std::ranges::any_of(gang.over, [&](const Pod* pod) {
          return gang.is_marked && was_refused(*pod) && is_of_run(*pod, gang, gang.mark.run);
        });
    std::ranges::sort(gang.pods, {}, [](const Pod* pod) {
      return std::tuple(pod->gpus == 0, pod->index, pod->meta.name);
    });
  }
  // Only the next job of its name is there: this one was deleted.
  std::erase_if(gangs, [](const auto& each) {
    const Gang& gang = each.second;
    return gang.is_followed && gang.pods.empty() && gang.over.empty();
  });
  return gangs;
}

std::vector<const Pod*> left_on(const Objects& objects, const std::string& node, TimeNs fenced_ns,
                                const Rules& rules) {
  constexpr TimeNs kClocksDiffer_ns = 10 * base::kSecond;
  std::vector<const Pod*> out;
  const auto found = objects.nodes.find("/" + node);
  if (found != objects.nodes.end()) {
    const Node& there = found->second;
    if (there.is_ready || there.lost_ns > fenced_ns + kClocksDiffer_ns) return out;
  }
  for (const auto& [key, pod] : objects.pods) {
    if (pod.node != node || pod.is_over()) continue;
    if (is_ours(pod.meta, pod.scheduler, rules)) out.push_back(&pod);
  }
  return out;
}

View view_of(const Objects& objects, const std::map<std::string, Gang>& gangs, const Rules& rules,
             const cluster::Picture& told, const std::map<std::string, RunId>& started) {
  View view;
  const std::map<std::string, int32_t> held = gpus_held(objects, rules, told);
  add_nodes(objects, rules, told, held, view);
  const Holdings holdings = holdings_of(objects, rules, told, held);
  ClosedNodes closed(objects, rules);
  for (const auto& [id, gang] : gangs) {
    const auto known = told.jobs.find(id);
    const JobSeen* before = known == told.jobs.end() ? nullptr : &known->second;
    const auto run = started.find(id);
    JobStand stand = stand_of(gang, holdings, before, run == started.end() ? RunId{} : run->second);
    stand.on_silent_node = is_on_silent_node(gang, objects);
    add_gang(id, gang, stand, closed, rules, before, view);
    view.stands[id] = std::move(stand);
  }
  set_partitions(gangs, closed, view);
  for (const auto& [key, pod] : objects.pods) {
    if (pod.node.empty() || pod.is_over() || pod.gpus == 0) continue;
    if (!is_ours(pod.meta, pod.scheduler, rules)) add_other(pod, holdings, view);
  }
  for (const IdleClaim& idle : idle_claims(objects, rules)) add_idle(idle, view);
  // What was told and is nowhere any more was deleted.
  for (const auto& [id, seen] : told.jobs) {
    if (view.picture.jobs.contains(id) || view.picture.ended.contains(id)) continue;
    JobGone gone{.id = id, .how = GoneHow::Cancelled, .detail = kDeleted};
    if (!seen.managed) gone = {.id = id, .how = GoneHow::Completed};
    view.picture.ended[id] = std::move(gone);
    if (const auto known = started.find(id); known != started.end()) {
      view.stands[id] = {.stand = Stand::Ended,
                         .run = known->second,
                         .ran = true,
                         .signal = SIGTERM,
                         .cancelled = true};
    }
  }
  return view;
}

}  // namespace goban::live::engine::kubernetes
