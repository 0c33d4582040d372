#include "live/engine/kubernetes/pod_facts.hpp"

#include <algorithm>
#include <array>

namespace goban::live::engine::kubernetes {

bool is_ours(const Meta& meta, const std::string& scheduler, const Rules& rules) {
  const bool names_us = scheduler == rules.scheduler || scheduler == rules.scheduler + "-exact";
  if (rules.mode == Mode::Observe || !names_us) return false;
  return rules.mode == Mode::All ||
         std::ranges::find(rules.namespaces, meta.space) != rules.namespaces.end();
}

std::string id_of(const Meta& meta) { return meta.key() + "/" + meta.uid; }

bool is_of_object(const Pod& pod) {
  return pod.owner_kind == kJob || std::ranges::any_of(kGroups, [&](const GroupFacts& each) {
           return pod.owner_kind == each.kind;
         });
}

std::string plain_id_of(const Pod& pod) {
  if (is_of_object(pod)) return pod.meta.space + "/" + pod.owner_name + "/" + pod.owner_uid;
  const std::string label = pod.meta.label(kGangLabel);
  if (label.empty()) return id_of(pod.meta);
  const std::string id = pod.meta.space + "/" + label;
  return pod.owner_uid.empty() ? id : id + "/" + pod.owner_uid;
}

std::optional<cluster::Mark> mark_of(const Pod& pod, uint64_t first_epoch) {
  cluster::Mark mark;
  const bool ours = cluster::parse_mark(pod.meta.note(kRunNote), mark) && mark.epoch >= first_epoch;
  return ours ? std::optional(mark) : std::nullopt;
}

bool is_of_run(const Pod& pod, const Gang& gang, const RunId& run) {
  const auto mark = mark_of(pod, gang.first_epoch);
  return mark && mark->run == run;
}

bool was_refused(const Pod& pod) {
  constexpr std::array<std::string_view, 11> kReasons = {"Evicted",
                                                         "NodeAffinity",
                                                         "NodeName",
                                                         "NodePorts",
                                                         "NodeShutdown",
                                                         "NodeUnschedulable",
                                                         "Preempting",
                                                         "SMTAlignmentError",
                                                         "TaintToleration",
                                                         "TopologyAffinityError",
                                                         "UnexpectedAdmissionError"};
  const bool is_one =
      pod.reason.starts_with("OutOf") || std::ranges::find(kReasons, pod.reason) != kReasons.end();
  return is_one && !pod.began;
}

std::tuple<TimeNs, TimeNs, std::string> age_of(const Pod* pod) {
  const TimeNs start_ns = pod->start_ns < 0 ? base::kNever : pod->start_ns;
  return {start_ns, pod->meta.created_ns, pod->meta.key()};
}

}  // namespace goban::live::engine::kubernetes
