// How nodes are put to sleep and woken.
#include <fmt/format.h>
#include <utility>

#include "base/clock.hpp"
#include "base/printable.hpp"
#include "live/engine/kubernetes/kubernetes_engine.hpp"

namespace goban::live::engine::kubernetes {

using base::steady_ns;
using base::TimeNs;

void KubernetesEngine::report_awake(const Objects& objects, std::vector<EngineEvent>& events) {
  if (!sleep_) to_sleep_.clear();  // nobody here wakes them: they are what the cluster says
  for (auto each = awaited_.begin(); each != awaited_.end();) {
    const auto node = objects.nodes.find("/" + *each);
    const bool is_there = node != objects.nodes.end();
    const bool is_marked = is_there && !node->second.meta.note(kSleepNote).empty();
    if (to_sleep_.contains(*each) || (sleep_ && is_marked)) {
      ++each;
      continue;
    }
    // One that is not ready is down, and found when it is back.
    if (is_there && node->second.is_ready) {
      events.emplace_back(Report{.kind = ReportKind::NodeUp, .node = *each});
    }
    each = awaited_.erase(each);
  }
}

void KubernetesEngine::tend_sleep(const Objects& objects) {
  constexpr TimeNs kAgain_ns = 5 * base::kSecond;
  const TimeNs now_ns = steady_ns();
  const auto patch = [this](const std::string& name, std::string body) {
    return send({{.method = "PATCH", .path = node_path(name), .body = std::move(body)}});
  };
  for (const auto& [key, node] : objects.nodes) {
    const std::string& name = node.meta.name;
    // The daemon before this one may have ended before its command had.
    const bool is_left = waking_since(node) >= 0 && !is_awake(node) && !to_sleep_.contains(name);
    if (is_left && commanded_.insert(name).second) sleep_->run("wake", name);
    const bool is_new = !woken_ns_.contains(name) || woken_ns_[name] + kAgain_ns < now_ns;
    if (!is_new || sleep_->is_busy(name) ||
        !is_woken(node, base::wall_ns(), options_.patience.start_ns))
      continue;
    woken_ns_[name] = now_ns;
    commanded_.erase(name);
    if (!to_sleep_.contains(name)) marked_.erase(name);
    (void)patch(name, woken_body());
  }
  const std::set<std::string> used =
      to_sleep_.empty() ? std::set<std::string>() : nodes_in_use(objects.pods);
  for (auto each = to_sleep_.begin(); each != to_sleep_.end();) {
    auto& [name, order] = *each;
    const auto node = objects.nodes.find("/" + name);
    if (node != objects.nodes.end() && is_taken_out(node->second) && !marked_.contains(name)) {
      each = to_sleep_.erase(each);
      continue;
    }
    const bool is_open = node != objects.nodes.end() && node->second.is_ready &&
                         !node->second.is_cordoned && node->second.meta.note(kSleepNote).empty();
    if (!order.sleeps && is_open) {  // nothing sleeps there
      each = to_sleep_.erase(each);
      continue;
    }
    if (order.sleeps && used.contains(name)) {
      // Pods that are no jobs here would end with it: it stays open until they have ended.
      const bool opens = order.cordoned_ns >= 0 && patch(name, woken_body()).problem.empty();
      if (opens) {
        order.cordoned_ns = -1;
        marked_.erase(name);
      }
      ++each;
      continue;
    }
    // What another scheduler bound before the node was cordoned is seen until then.
    constexpr TimeNs kSettles_ns = 2 * base::kSecond;
    if (order.cordoned_ns >= 0 && now_ns < order.cordoned_ns + kSettles_ns) {
      ++each;
      continue;
    }
    if (order.cordoned_ns < 0) {
      if (order.sleeps) marked_.insert(name);
      // One that has not been put to sleep yet has nothing to say anew.
      const bool is_off =
          node != objects.nodes.end() && (commanded_.contains(name) || !marked_.contains(name));
      const Outcome out = patch(
          name, order.sleeps ? sleep_body()
                             : wake_body(base::wall_ns(), is_off ? node->second.heard_ns : -1));
      const bool is_done = out.problem.empty();
      if (is_done && order.sleeps) order.cordoned_ns = steady_ns();
      // A node that could not be cordoned stays awake; one that is to wake is tried again.
      if (!is_done || order.sleeps) {
        each = is_done || !order.sleeps ? std::next(each) : to_sleep_.erase(each);
        if (out.unsure) break;  // each one more would take as long
        continue;
      }
    }
    commanded_.insert(name);
    sleep_->run(order.sleeps ? "sleep" : "wake", name);
    each = to_sleep_.erase(each);
  }
  for (const std::string& failure : sleep_->look()) {
    fmt::print(stderr, "goban: warning: {}\n", base::printable(failure));
  }
}

}  // namespace goban::live::engine::kubernetes
