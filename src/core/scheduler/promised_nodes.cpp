#include "core/scheduler/promised_nodes.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/check.hpp"

namespace goban::core::scheduler {

std::string PromisedNodes::problem(const Promise& promise) const {
  if (!promise.reservation.valid() || find(promise.reservation) != nullptr) {
    return "the reservation is a duplicate or invalid";
  }
  if (promise.start_ns >= promise.end_ns) return "its end is not after its start";
  for (size_t i = 0; i < promise.nodes.size(); ++i) {
    const NodeId node = promise.nodes[i];
    if (node.index() >= num_nodes_) return fmt::format("unknown node {}", node.value);
    if (std::find(promise.nodes.begin(), promise.nodes.begin() + static_cast<std::ptrdiff_t>(i),
                  node) != promise.nodes.begin() + static_cast<std::ptrdiff_t>(i)) {
      return fmt::format("node {} is listed twice", node.value);
    }
    if (overlapping(node, {promise.start_ns, promise.end_ns}) != nullptr) {
      return fmt::format("node {} belongs to another reservation", node.value);
    }
  }
  return {};
}

void PromisedNodes::add(Promise promise) {
  GOBAN_CHECK(problem(promise).empty(), "an invalid reservation");
  const auto place =
      std::ranges::lower_bound(promises_, promise.reservation, {}, &Promise::reservation);
  promises_.insert(place, std::move(promise));
  index();
}

void PromisedNodes::remove(ReservationId reservation) {
  if (std::erase_if(promises_, [&](const Promise& p) { return p.reservation == reservation; }) > 0)
    index();
}

void PromisedNodes::index() {
  by_node_.assign(promises_.empty() ? 0 : num_nodes_, {});
  for (size_t i = 0; i < promises_.size(); ++i) {
    for (const NodeId node : promises_[i].nodes) by_node_[node.index()].push_back(i);
  }
}

const PromisedNodes::Promise* PromisedNodes::find(ReservationId reservation) const {
  const auto found = std::ranges::lower_bound(promises_, reservation, {}, &Promise::reservation);
  return found == promises_.end() || found->reservation != reservation ? nullptr : &*found;
}

const PromisedNodes::Promise* PromisedNodes::overlapping(NodeId node, HoldSpan hold) const {
  if (promises_.empty()) return nullptr;
  const Promise* first = nullptr;
  for (const size_t i : by_node_[node.index()]) {
    const Promise& each = promises_[i];
    // An empty time still covers its start.
    const bool meets =
        each.start_ns < std::max(hold.until_ns, hold.from_ns + 1) && hold.from_ns < each.end_ns;
    if (meets && (first == nullptr || each.start_ns < first->start_ns)) first = &each;
  }
  return first;
}

ReservationId PromisedNodes::holder(NodeId node, TimeNs now) const {
  const Promise* promise = overlapping(node, {now, now});
  return promise == nullptr ? ReservationId{} : promise->reservation;
}

bool PromisedNodes::allows(NodeId node, ReservationId whose, HoldSpan hold) const {
  return whose.valid() ? holder(node, hold.from_ns) == whose : overlapping(node, hold) == nullptr;
}

std::vector<TimeNs> PromisedNodes::changes_after(TimeNs now) const {
  std::vector<TimeNs> times;
  for (const Promise& each : promises_) {
    for (const TimeNs at : {each.start_ns, each.end_ns}) {
      if (at > now && at != base::kNever) times.push_back(at);
    }
  }
  std::ranges::sort(times);
  const auto twice = std::ranges::unique(times);
  times.erase(twice.begin(), twice.end());
  return times;
}

}  // namespace goban::core::scheduler
