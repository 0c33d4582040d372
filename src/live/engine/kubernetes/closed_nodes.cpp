#include "live/engine/kubernetes/closed_nodes.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// What a pod asks of its node, for users.
std::string request_words(const Pod& pod) {
  constexpr size_t kMost = 160;
  std::string out;
  for (const Requirement& each : pod.where) {
    if (!out.empty()) out += ", ";
    const std::string values = fmt::format("{}", fmt::join(each.values, "|"));
    switch (each.is) {
      case Requirement::Is::In:
        out += fmt::format("{}={}", each.key, values);
        break;
      case Requirement::Is::NotIn:
        out += fmt::format("{}!={}", each.key, values);
        break;
      case Requirement::Is::Exists:
        out += each.key;
        break;
      case Requirement::Is::Absent:
        out += "!" + each.key;
        break;
    }
  }
  if (out.size() > kMost) out = out.substr(0, kMost) + "...";
  return out;
}

}  // namespace

bool is_managed(const Node& node, const Rules& rules) {
  if (rules.mode == Mode::Observe) return node.seen.num_gpus > 0;
  return node.meta.label(kManagedLabel) == "true";
}

ClosedNodes::ClosedNodes(const Objects& objects, const Rules& rules) {
  for (const auto& [key, node] : objects.nodes) {
    if (!is_managed(node, rules)) continue;
    nodes_.push_back(&node);
    names_.insert(node.meta.name);
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
    const auto lost =
        std::ranges::find_if_not(pods, [&](const Pod* p) { return is_somewhere(*p); });
    if (lost != pods.end()) place.nowhere = *lost;
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

bool ClosedNodes::is_open(const Place& place, const std::string& node) const {
  return names_.contains(node) && std::ranges::find(place.closed, node) == place.closed.end();
}

bool ClosedNodes::is_somewhere(const Pod& pod) const {
  return std::ranges::any_of(nodes_, [&](const Node* node) {
    return (pod.gpus == 0 || node->seen.num_gpus > 0) && may_run_on(pod, *node);
  });
}

std::string ClosedNodes::hindrance(const Gang& gang, const Pod& pod) {
  if (gang.pods.empty() || nodes_.empty()) return {};
  const Pod* lost = of(gang, pod).nowhere;
  for (const Pod* each : gang.pods) {
    if (lost != nullptr) break;
    if (each->gpus == pod.gpus) continue;
    const auto [known, is_new] = somewhere_.try_emplace(place_key(*each));
    if (is_new) known->second = is_somewhere(*each);
    if (!known->second) lost = each;
  }
  if (lost == nullptr) return {};
  Pod asks_nothing;
  asks_nothing.gpus = lost->gpus;
  asks_nothing.claims = lost->claims;
  asks_nothing.tolerations = {{.any_value = true}};
  if (!is_somewhere(asks_nothing)) {
    const bool has_gpus =
        std::ranges::any_of(nodes_, [](const Node* node) { return node->seen.num_gpus > 0; });
    if (!has_gpus) return "no managed node has GPUs";
    return lost->claims.empty() ? "the GPUs of all managed nodes need ResourceClaims"
                                : "no managed node has GPUs of a DRA driver";
  }
  const std::string request = request_words(*lost);
  return fmt::format("no managed node meets its node selector, affinity or tolerations{}{}",
                     request.empty() ? "" : ": ", request);
}

}  // namespace goban::live::engine::kubernetes
