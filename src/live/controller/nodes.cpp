#include "live/controller/nodes.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "live/controller/id_fields.hpp"

namespace goban::live::controller {

using core::model::EventKind;

namespace {

/// Reads a list of objects with an id below `below` and a time.
template <typename Id>
void read_times(base::FieldReader& snapshot, const char* list, const char* id_name,
                const char* time_name, uint32_t below, std::map<Id, TimeNs>& out) {
  snapshot.list(list, [&](base::FieldReader& part) {
    Id id;
    TimeNs time_ns = 0;
    part.field(id_name, id.value, uint32_t{0}, below - 1);
    part.field(time_name, time_ns, TimeNs{0}, base::kNever);
    if (part.good() && id.valid()) out[id] = time_ns;
  });
}

}  // namespace

void Nodes::drain(const Drain& drain, TimeNs at) {
  drained_[drain.node] = drain.reason;
  if (down_.contains(drain.node)) return;
  // A sleeping node that is drained at once is woken: for the maintenance, and to be available when
  // resumed.
  if (drain.now && core_.state().node_power().is_resting(drain.node)) {
    orders_.emplace_back(WakeNode{core_.name_of(drain.node)});
  }
  jobs_.tell_core({.kind = drain.now ? EventKind::NodeClosed : EventKind::NodeDrained,
                   .at_ns = at,
                   .node = drain.node,
                   .until_ns = std::max(drain.from_ns, at)});
  if (const auto held = holds_.find(drain.node); held != holds_.end()) {
    held->second.drain_ns = std::max(drain.from_ns, at);
    jobs_.tell_core(
        {.kind = EventKind::NodeDrained, .at_ns = at, .node = drain.node, .until_ns = at});
  }
}

void Nodes::resume(NodeId node, TimeNs at) {
  const bool was_held = holds_.erase(node) > 0;
  drained_there_.erase(node);
  if ((drained_.erase(node) == 0 && !was_held) || down_.contains(node)) return;
  jobs_.tell_core({.kind = EventKind::NodeRestored, .at_ns = at, .node = node});
}

void Nodes::fence(NodeId node, TimeNs at) {
  fenced_[node] = at;
  orders_.emplace_back(FenceNode{.node = core_.name_of(node), .at_ns = at});
}

std::vector<Order> Nodes::fences() const {
  std::vector<Order> out;
  for (const auto& [node, at] : fenced_) {
    out.emplace_back(FenceNode{.node = core_.name_of(node), .at_ns = at});
  }
  return out;
}

void Nodes::drain_there(NodeId node, bool is_drained, const std::string& reason, TimeNs at) {
  if (!is_drained) {
    if (drained_there_.erase(node) > 0) resume(node, at);
  } else if (is_drained_there(node)) {
    drained_[node] = reason;
  } else if (!drained_.contains(node)) {
    drained_there_.insert(node);
    drain({.node = node, .from_ns = at, .now = false, .reason = reason}, at);
  }
}

void Nodes::silent(NodeId node, bool is_silent) {
  if (is_silent) {
    silent_.insert(node);
  } else {
    silent_.erase(node);
  }
}

void Nodes::renumber(const core::scheduler::ClusterNumbers& numbers) {
  const auto move_map = [](auto& map, const auto& of) {
    std::remove_cvref_t<decltype(map)> moved;
    for (auto& [id, value] : map) {
      if (of[id.index()].valid()) moved.emplace(of[id.index()], std::move(value));
    }
    map = std::move(moved);
  };
  const auto move_set = [&](std::set<NodeId>& set) {
    std::set<NodeId> moved;
    for (const NodeId node : set) {
      if (numbers.nodes[node.index()].valid()) moved.insert(numbers.nodes[node.index()]);
    }
    set = std::move(moved);
  };
  move_map(drained_, numbers.nodes);
  move_map(holds_, numbers.nodes);
  move_map(left_out_, numbers.gpus);
  move_map(fenced_, numbers.nodes);
  move_set(drained_there_);
  move_set(down_);
  move_set(silent_);
}

void Nodes::lost(NodeId node, TimeNs at) {
  if (!down_.insert(node).second) return;
  // Its runs may continue: their jobs start elsewhere only after the engine has reported their end.
  jobs_.tell_core({.kind = EventKind::NodeLost, .at_ns = at, .node = node});
}

void Nodes::found(NodeId node, TimeNs at) {
  answers(node);
  if (down_.erase(node) > 0) {
    holds_.erase(node);
    jobs_.tell_core({.kind = EventKind::NodeRestored, .at_ns = at, .node = node});
    if (!drained_.contains(node)) return;
    jobs_.tell_core({.kind = EventKind::NodeDrained, .at_ns = at, .node = node, .until_ns = at});
  } else if (core_.state().node_power().is_waking(node)) {
    jobs_.tell_core({.kind = EventKind::NodeAwake, .at_ns = at, .node = node});
  }
}

void Nodes::leave_out(GpuId gpu, TimeNs at, TimeNs until_ns) {
  left_out_[gpu] = until_ns;
  const core::model::FoundAllocation held{.gpus = {gpu}};
  jobs_.tell_core({.kind = EventKind::JobFound, .at_ns = at, .gpu = gpu, .found = &held});
}

void Nodes::hold(NodeId node, const std::string& reason, TimeNs at, TimeNs until_ns) {
  const auto [held, is_new] = holds_.try_emplace(node);
  held->second.until_ns = until_ns;
  held->second.reason = reason;
  if (!is_new) return;
  held->second.drain_ns = core_.state().resources().usable_until_ns(node);
  if (down_.contains(node)) return;
  jobs_.tell_core({.kind = EventKind::NodeDrained, .at_ns = at, .node = node, .until_ns = at});
}

void Nodes::end_holds(const Runs& runs, TimeNs at) {
  for (auto out = left_out_.begin(); out != left_out_.end();) {
    if (at < out->second) {
      ++out;
      continue;
    }
    jobs_.tell_core({.kind = EventKind::FoundOver, .at_ns = at, .gpu = out->first});
    out = left_out_.erase(out);
  }
  for (auto held = holds_.begin(); held != holds_.end();) {
    const TimeNs until_ns = held->second.until_ns;
    if (until_ns == base::kNever ? runs.is_leaving(held->first) : at < until_ns) {
      ++held;
      continue;
    }
    if (!down_.contains(held->first)) {
      jobs_.tell_core({.kind = EventKind::NodeDrained,
                       .at_ns = at,
                       .node = held->first,
                       .until_ns = held->second.drain_ns});
    }
    held = holds_.erase(held);
  }
}

TimeNs Nodes::next_ns() const {
  TimeNs next = base::kNever;
  for (const auto& [node, hold] : holds_) next = std::min(next, hold.until_ns);
  for (const auto& [gpu, until_ns] : left_out_) next = std::min(next, until_ns);
  return next;
}

std::vector<NodeId> Nodes::waking() const {
  std::vector<NodeId> found;
  const core::scheduler::NodePower& power = core_.state().node_power();
  for (uint32_t i = 0; i < core_.site().cluster.nodes().size(); ++i) {
    if (power.is_waking(NodeId(i))) found.emplace_back(i);
  }
  return found;
}

void Nodes::write(nlohmann::json& snapshot) const {
  nlohmann::json drained = nlohmann::json::array();
  for (const auto& [node, reason] : drained_) {
    drained.push_back({{"node", node.value}, {"reason", reason}});
  }
  snapshot["drained"] = std::move(drained);
  snapshot["down"] = numbers_of(down_);
  if (!drained_there_.empty()) snapshot["drained_there"] = numbers_of(drained_there_);
  if (!silent_.empty()) snapshot["silent"] = numbers_of(silent_);
  for (const auto& [node, at] : fenced_) {
    snapshot["fenced"].push_back({{"node", node.value}, {"at", at}});
  }
  for (const auto& [node, hold] : holds_) {
    snapshot["holds"].push_back({{"node", node.value},
                                 {"until", hold.until_ns},
                                 {"drain", hold.drain_ns},
                                 {"reason", hold.reason}});
  }
  for (const auto& [gpu, until_ns] : left_out_) {
    snapshot["left_out"].push_back({{"gpu", gpu.value}, {"until", until_ns}});
  }
}

void Nodes::read(base::FieldReader& snapshot) {
  const auto num_nodes = static_cast<uint32_t>(core_.site().cluster.nodes().size());
  snapshot.list("drained", [&](base::FieldReader& part) {
    NodeId node;
    std::string reason;
    part.field("node", node.value, uint32_t{0}, num_nodes - 1);
    part.field("reason", reason);
    if (part.good() && node.valid()) drained_[node] = reason;
  });
  read_ids(snapshot, "down", down_, num_nodes);
  read_ids(snapshot, "drained_there", drained_there_, num_nodes);
  read_ids(snapshot, "silent", silent_, num_nodes);
  read_times(snapshot, "fenced", "node", "at", num_nodes, fenced_);
  snapshot.list("holds", [&](base::FieldReader& part) {
    NodeId node;
    LaunchHold hold;
    part.field("node", node.value, uint32_t{0}, num_nodes - 1);
    part.field("until", hold.until_ns, TimeNs{0}, base::kNever);
    part.field("drain", hold.drain_ns, TimeNs{0}, base::kNever);
    part.field("reason", hold.reason);
    if (part.good() && node.valid()) holds_[node] = std::move(hold);
  });
  read_times(snapshot, "left_out", "gpu", "until", core_.site().cluster.num_gpus(), left_out_);
}

}  // namespace goban::live::controller
