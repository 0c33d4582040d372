#include "live/engine/kubernetes/gang_stand.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "live/engine/kubernetes/pod_facts.hpp"

namespace goban::live::engine::kubernetes {

namespace {

using cluster::JobStand;
using cluster::Stand;

TimeNs start_of(const Gang& gang) {
  TimeNs start_ns = -1;
  for (const Pod* pod : gang.pods) start_ns = std::max(start_ns, pod->start_ns);
  for (const Pod* pod : gang.over) {
    if (gang.pods.empty()) start_ns = std::max(start_ns, pod->start_ns);
  }
  return start_ns;
}

std::string words_of_refusal(const Pod& pod) {
  return fmt::format("the kubelet of {} refused a pod: {}", pod.node, pod.reason);
}

/// Controllers count a refused pod as one that failed.
std::string refusal_that_ended(const Gang& gang) {
  const Pod* refused = nullptr;
  for (const Pod* pod : gang.over) {
    if (pod->phase != Phase::Failed) continue;
    if (!was_refused(*pod)) return "";
    refused = pod;
  }
  return refused == nullptr ? "" : words_of_refusal(*refused);
}

/// Pods without an object of their own, ended by their deletion.
bool were_deleted(const Gang& gang) {
  if (gang.work != nullptr || gang.group != nullptr) return false;
  const auto is_failed = [](const Pod* pod) { return pod->phase == Phase::Failed; };
  return std::ranges::any_of(gang.over, is_failed) &&
         std::ranges::all_of(gang.over, [&](const Pod* pod) {
           return !is_failed(pod) || (pod->meta.deleting && pod->signal != 0);
         });
}

void set_end(const Gang& gang, JobStand& out) {
  out.stand = Stand::Ended;
  out.exit_code = 0;
  out.reason = refusal_that_ended(gang);
  for (const Pod* pod : gang.over) {
    out.ran = out.ran || (!pod->node.empty() && !was_refused(*pod));
    out.end_ns = std::max(out.end_ns, pod->end_ns);
    const auto mark = mark_of(*pod, gang.first_epoch);
    if (mark && (!out.run.job.valid() || mark->run > out.run)) out.run = mark->run;
    if (pod->phase != Phase::Failed || out.exit_code != 0 || out.signal != 0) continue;
    out.exit_code = pod->signal != 0 ? -1 : pod->exit_code;
    out.signal = pod->signal;
    out.out_of_memory = pod->out_of_memory;
    out.node_failed = pod->reason == "NodeLost" || pod->reason == "Terminated";
  }
  if (gang.group != nullptr) {
    if (gang.group->complete) out.exit_code = 0, out.signal = 0;
    if (gang.group->failed && out.exit_code == 0 && out.signal == 0) out.exit_code = 1;
    return;
  }
  out.cancelled = is_of_deleted_job(gang) || were_deleted(gang);
  if (gang.work == nullptr) return;
  if (gang.work->complete) out.exit_code = 0, out.signal = 0;
  if (gang.work->failed && out.exit_code == 0 && out.signal == 0) out.exit_code = 1;
  out.timed_out = gang.work->reason == "DeadlineExceeded";
}

bool has_ended(const Gang& gang) {
  if (gang.bound > 0) return false;
  if (gang.group != nullptr) return gang.group->complete || gang.group->failed;
  if (gang.work != nullptr) return gang.work->complete || gang.work->failed;
  return gang.pods.empty();
}

/// What kubelets refused of a run. What one misses, such as memory, it misses for its other GPUs,
/// too.
void set_refusals(const Gang& gang, const RunId& run, JobStand& out) {
  for (const Pod* pod : gang.over) {
    if (!was_refused(*pod) || !is_of_run(*pod, gang, run)) continue;
    if (!out.nodes_closed) {
      out.reason = words_of_refusal(*pod);
    }
    out.nodes_closed = true;
    out.closed_nodes.push_back(pod->node);
  }
}

/// The last run of which a kubelet refused a pod; invalid: there is none.
RunId refused_run(const Gang& gang) {
  RunId last{};
  for (const Pod* pod : gang.over) {
    const auto mark = was_refused(*pod) ? mark_of(*pod, gang.first_epoch) : std::nullopt;
    if (mark && (!last.job.valid() || mark->run > last)) last = mark->run;
  }
  return last;
}

/// Its pods have ended, and its Job's controller has not said yet what follows.
bool is_between(const Gang& gang, const RunId& run) {
  const bool has_owner = gang.work != nullptr || gang.group != nullptr;
  if (!has_owner || gang.is_suspended() || !gang.pods.empty()) return false;
  // Pods that are being removed were stopped: nothing but new ones follows.
  return std::ranges::any_of(
      gang.over, [&](const Pod* pod) { return !pod->meta.deleting && is_of_run(*pod, gang, run); });
}

}  // namespace

bool is_of_deleted_job(const Gang& gang) {
  return gang.work == nullptr && gang.least == 0 && !gang.over.empty() &&
         gang.over.front()->owner_kind == kJob;
}

bool lacks_pods(const Gang& gang) {
  if (gang.work != nullptr || gang.group != nullptr) return false;
  if (gang.bound == 0 || gang.open == 0 || gang.bound >= gang.size) return false;
  return std::ranges::none_of(gang.pods, [](const Pod* pod) { return pod->owner_kind.empty(); });
}

std::vector<NodePart> parts_of(const Gang& gang, const Holdings& holdings) {
  std::vector<NodePart> parts;
  for (const Pod* pod : gang.pods) {
    if (pod->node.empty()) continue;
    auto part = std::ranges::find(parts, pod->node, &NodePart::node);
    if (part == parts.end()) part = parts.insert(parts.end(), NodePart{.node = pod->node});
    if (const auto held = holdings.find(pod->meta.uid); held != holdings.end()) {
      part->gpus.insert(part->gpus.end(), held->second.begin(), held->second.end());
    }
    part->cores += static_cast<int32_t>((pod->cpu_milli + kMilli - 1) / kMilli);
    part->mem_bytes += pod->mem_bytes;
  }
  return parts;
}

JobStand stand_of(const Gang& gang, const Holdings& holdings, const JobSeen* told, RunId started) {
  JobStand out;
  if (has_ended(gang)) {
    set_end(gang, out);
    if (out.exit_code == 0 && out.signal == 0) out.reason.clear();
    return out;
  }
  out.start_ns = start_of(gang);
  if (gang.is_marked) out.run = gang.mark.run;
  const bool between = started.job.valid() && is_between(gang, started);
  if (between) out.run = started;
  if (gang.bound == 0 && !between) {
    // All pods of a run may have been refused, and replaced, between two looks.
    out.stand = Stand::Held;
    out.run = refused_run(gang);
    set_refusals(gang, out.run, out);
    return out;
  }
  out.parts = parts_of(gang, holdings);
  const bool all_run =
      std::ranges::all_of(gang.pods, [](const Pod* pod) { return pod->phase == Phase::Running; });
  if (started.job.valid() && started == out.run) {
    // The gang holds what it got until its last pod has ended.
    if (told != nullptr && !told->parts.empty()) out.parts = told->parts;
    if (told != nullptr && told->start_ns >= 0) out.start_ns = told->start_ns;
    out.stand = Stand::Running;
    return out;
  }
  // What somebody else placed, also in parts, holds its GPUs: there is no order of it here.
  if ((gang.whole() && all_run) || !gang.is_marked) {
    out.stand = Stand::Running;
    return out;
  }
  out.stand = Stand::Released;
  out.hopeless = !gang.whole();
  out.reason = out.hopeless ? fmt::format("{} of {} pods have a node", gang.bound, gang.size)
                            : "its containers are being started";
  set_refusals(gang, gang.mark.run, out);
  out.is_blameless = out.hopeless && !out.nodes_closed;
  return out;
}

}  // namespace goban::live::engine::kubernetes
