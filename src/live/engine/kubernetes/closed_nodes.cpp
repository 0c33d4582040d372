#include "live/engine/kubernetes/closed_nodes.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace goban::live::engine::kubernetes {

namespace {

/// All that may_run_on() reads of a pod.
std::string place_key(const Pod& pod) {
  std::string out{pod.gpus > 0 ? 'g' : '-', pod.claims.empty() ? '-' : 'c'};
  const auto add = [&](const std::string& text) { out += fmt::format("{}:{}", text.size(), text); };
  for (const Requirement& each : pod.where) {
    out += static_cast<char>('a' + static_cast<int>(each.is));
    add(each.key);
    for (const std::string& value : each.values) add(value);
  }
  for (const Toleration& each : pod.tolerations) {
    out += each.any_value ? '*' : '=';
    for (const std::string* text : {&each.key, &each.value, &each.effect}) add(*text);
  }
  return out;
}

}  // namespace

bool is_managed(const Node& node, const Rules& rules) {
  if (rules.mode == Mode::Observe) return node.seen.num_gpus > 0;
  return node.meta.label(kManagedLabel) == "true";
}

ClosedNodes::ClosedNodes(const Objects& objects, const Rules& rules) {
  for (const auto& [key, node] : objects.nodes) {
    if (is_managed(node, rules)) nodes_.push_back(&node);
  }
}

const std::vector<std::string>& ClosedNodes::of(const Gang& gang, const Pod& pod) {
  std::vector<const Pod*> pods;
  std::set<std::string> keys;
  for (const Pod* each : gang.pods) {
    if (each->gpus == pod.gpus && keys.insert(place_key(*each)).second) pods.push_back(each);
  }
  if (gang.pods.empty()) {
    pods = {&pod};
    keys = {place_key(pod)};
  }
  const auto [found, is_new] = known_.try_emplace(keys);
  if (!is_new) return found->second;
  for (const Node* node : nodes_) {
    const auto may = [&](const Pod* each) { return may_run_on(*each, *node); };
    if (std::ranges::none_of(pods, may)) found->second.push_back(node->meta.name);
  }
  return found->second;
}

}  // namespace goban::live::engine::kubernetes
