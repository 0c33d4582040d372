// Whether a pod may run on a node: its labels against the pod's selector and required affinity, its
// taints against the pod's tolerations, as kube-scheduler looks at them.
#include <algorithm>
#include <array>

#include "live/engine/kubernetes/objects.hpp"

namespace goban::live::engine::kubernetes {

namespace {

bool matches(const Requirement& wanted, const std::map<std::string, std::string>& labels) {
  const auto found = labels.find(wanted.key);
  const bool there = found != labels.end();
  const bool in = there && std::ranges::find(wanted.values, found->second) != wanted.values.end();
  switch (wanted.is) {
    case Requirement::Is::In:
      return in;
    case Requirement::Is::NotIn:
      return !in;
    case Requirement::Is::Exists:
      return there;
    case Requirement::Is::Absent:
      return !there;
  }
  return false;
}

bool tolerates(const Pod& pod, const Taint& taint) {
  return std::ranges::any_of(pod.tolerations, [&](const Toleration& each) {
    if (!each.effect.empty() && each.effect != taint.effect) return false;
    if (each.key.empty()) return each.any_value;
    return each.key == taint.key && (each.any_value || each.value == taint.value);
  });
}

}  // namespace

bool is_hard(const Taint& taint) {
  return taint.effect == "NoSchedule" || taint.effect == "NoExecute";
}

bool says_state(const Taint& taint) {
  constexpr std::array kKeys = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable",
                                "node.kubernetes.io/unschedulable"};
  return is_hard(taint) && std::ranges::find(kKeys, taint.key) != kKeys.end();
}

bool may_run_on(const Pod& pod, const Node& node) {
  if (pod.gpus > 0 && pod.claims.empty() != node.devices.empty()) return false;
  const bool fits = std::ranges::all_of(
      pod.where, [&](const Requirement& each) { return matches(each, node.meta.labels); });
  return fits && std::ranges::all_of(node.taints, [&](const Taint& taint) {
           return !is_hard(taint) || says_state(taint) || tolerates(pod, taint);
         });
}

}  // namespace goban::live::engine::kubernetes
