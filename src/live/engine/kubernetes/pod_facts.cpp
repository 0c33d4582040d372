#include "live/engine/kubernetes/pod_facts.hpp"

#include <algorithm>

namespace goban::live::engine::kubernetes {

bool is_ours(const Meta& meta, const std::string& scheduler, const Rules& rules) {
  const bool names_us = scheduler == rules.scheduler || scheduler == rules.scheduler + "-exact";
  if (rules.mode == Mode::Observe || !names_us) return false;
  return rules.mode == Mode::All ||
         std::ranges::find(rules.namespaces, meta.space) != rules.namespaces.end();
}

std::string id_of(const Meta& meta) { return meta.key() + "/" + meta.uid; }

std::optional<cluster::Mark> mark_of(const Pod& pod, uint64_t first_epoch) {
  cluster::Mark mark;
  const bool ours = cluster::parse_mark(pod.meta.note(kRunNote), mark) && mark.epoch >= first_epoch;
  return ours ? std::optional(mark) : std::nullopt;
}

bool is_of_run(const Pod& pod, const Gang& gang, const RunId& run) {
  const auto mark = mark_of(pod, gang.first_epoch);
  return mark && mark->run == run;
}

bool was_refused(const Pod& pod) { return pod.reason.starts_with("OutOf"); }

std::tuple<TimeNs, TimeNs, std::string> age_of(const Pod* pod) {
  const TimeNs start_ns = pod->start_ns < 0 ? base::kNever : pod->start_ns;
  return {start_ns, pod->meta.created_ns, pod->meta.key()};
}

}  // namespace goban::live::engine::kubernetes
