// The state of the core: nodes that are reserved, rest, or are held by others.
#include <algorithm>

#include "base/check.hpp"
#include "core/scheduler/state.hpp"

namespace goban::core::scheduler {

void State::follow_power(NodeId node, TimeNs now) {
  if (!node_power_.active()) return;
  const bool kept = resources_.promised().holder(node, now).valid();
  const bool drained = resources_.usable_until_ns(node) <= now;
  node_power_.set_idle(node, resources_.idle(node) && !kept && !drained, now);
}

void State::follow_power(const Allocation& allocation, TimeNs now) {
  if (!node_power_.active()) return;
  NodeId last;
  const auto follow = [&](NodeId node) {
    if (node == last) return;
    last = node;
    follow_power(node, now);
  };
  for (const GpuId gpu : allocation.gpus) follow(speed_.cluster->node_of(gpu));
  for (const NodeId node : allocation.hosts) follow(node);
}

void State::follow_power(const model::FoundAllocation& found, TimeNs now) {
  Allocation nodes;
  nodes.gpus = found.gpus;
  for (const model::HostPart& part : found.hosts) nodes.hosts.push_back(part.node);
  follow_power(nodes, now);
}

void State::hold_found(Holder holder, const model::FoundAllocation& found, TimeNs now) {
  GOBAN_CHECK(!found_.contains(holder), "a found allocation is held twice");
  resources_.take_found(found);
  found_.emplace(holder, found);
  follow_power(found, now);
}

void State::drop_found(Holder holder, TimeNs now) {
  const auto held = found_.find(holder);
  if (held == found_.end()) return;
  const model::FoundAllocation found = std::move(held->second);
  found_.erase(held);
  resources_.give_found(found);
  follow_power(found, now);
}

void State::keep_promised_awake(TimeNs now) {
  for (const PromisedNodes::Promise& each : resources_.promised().all()) {
    if (!each.holds_at(now)) continue;
    for (const NodeId node : each.nodes) node_power_.set_idle(node, false, now);
  }
}

void State::end_promise(ReservationId reservation, TimeNs now) {
  const auto* promise = resources_.promised().find(reservation);
  if (promise == nullptr) return;
  const std::vector<NodeId> nodes = promise->nodes;
  resources_.promised().remove(reservation);
  if (!node_power_.active()) return;
  for (const NodeId node : nodes) node_power_.set_idle(node, resources_.idle(node), now);
}

int32_t State::gpus_within(Slot slot, ReservationId whose, TimeNs now) const {
  const PromisedNodes& promised = resources_.promised();
  const std::vector<GpuId>& gpus = allocation(slot).gpus;
  if (promised.empty()) return whose.valid() ? 0 : static_cast<int32_t>(gpus.size());
  return static_cast<int32_t>(std::ranges::count_if(gpus, [&](GpuId gpu) {
    return promised.holder(speed_.cluster->node_of(gpu), now) == whose;
  }));
}

std::vector<Slot> State::strangers(TimeNs now) const {
  std::vector<Slot> found;
  const PromisedNodes& promised = resources_.promised();
  if (promised.has_only_parts()) return found;
  for (const Running& running : running_) {
    const ReservationId own = jobs_[running.slot].request.reservation;
    const auto strange = [&](NodeId node) {
      const ReservationId holder = promised.holder(node, now);
      return holder.valid() && holder != own && !promised.find(holder)->is_part();
    };
    const auto& [gpus, hosts, reason] = running.allocation;
    if (std::ranges::any_of(gpus,
                            [&](GpuId gpu) { return strange(speed_.cluster->node_of(gpu)); }) ||
        std::ranges::any_of(hosts, strange)) {
      found.push_back(running.slot);
    }
  }
  std::ranges::sort(found, {}, [this](Slot slot) { return jobs_[slot].arrival; });
  return found;
}

}  // namespace goban::core::scheduler
