#include "live/engine/kubernetes/closed_nodes.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/sha256.hpp"

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

const Place& ClosedNodes::of(const Gang& gang, const Pod& pod) {
  constexpr size_t kDigits = 8;
  std::vector<const Pod*> pods;
  std::set<std::string> keys;
  for (const Pod* each : gang.pods.empty() ? gang.over : gang.pods) {
    if (each->gpus == pod.gpus && keys.insert(place_key(*each)).second) pods.push_back(each);
  }
  const bool is_template = pods.empty();
  if (is_template) {
    pods = {&pod};
    keys = {place_key(pod)};
  }
  const auto [found, is_new] = known_.try_emplace(keys);
  Place& place = found->second;
  if (is_new) {
    for (const Node* node : nodes_) {
      const auto may = [&](const Pod* each) { return may_run_on(*each, *node); };
      if (std::ranges::none_of(pods, may)) place.closed.push_back(node->meta.name);
    }
    if (!place.closed.empty()) {
      std::string text;
      for (const std::string& key : keys) text += fmt::format("{}:{}", key.size(), key);
      place.name = "selector-" + base::hex(base::sha256(text)).substr(0, kDigits);
    }
  }
  // Admission adds tolerations to pods, which their template does not have.
  if (!is_template || place.name.empty()) return place;
  of_template_ = {.closed = place.closed};
  return of_template_;
}

}  // namespace goban::live::engine::kubernetes
