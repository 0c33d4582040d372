#include "live/controller/nodes.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "live/controller/id_fields.hpp"

namespace goban::live::controller {

using core::model::EventKind;

void Nodes::drain(const Drain& drain, TimeNs at) {
  drained_[drain.node] = drain.reason;
  if (down_.contains(drain.node)) return;
  // A sleeping node that is drained at once is woken: for the maintenance, and to be available when
  // resumed.
  if (drain.now && core_.state().node_power().is_resting(drain.node)) {
    orders_.emplace_back(WakeNode{drain.node});
  }
  jobs_.tell_core({.kind = drain.now ? EventKind::NodeClosed : EventKind::NodeDrained,
                   .at_ns = at,
                   .node = drain.node,
                   .until_ns = std::max(drain.from_ns, at)});
}

void Nodes::resume(NodeId node, TimeNs at) {
  if (drained_.erase(node) == 0 || down_.contains(node)) return;
  jobs_.tell_core({.kind = EventKind::NodeRestored, .at_ns = at, .node = node});
}

void Nodes::lost(NodeId node, TimeNs at) {
  if (!down_.insert(node).second) return;
  // Its runs may continue: their jobs start elsewhere only after the engine has reported their end.
  jobs_.tell_core({.kind = EventKind::NodeLost, .at_ns = at, .node = node});
}

void Nodes::found(NodeId node, TimeNs at) {
  const bool was_down = down_.erase(node) > 0;
  if (was_down && !drained_.contains(node)) {
    jobs_.tell_core({.kind = EventKind::NodeRestored, .at_ns = at, .node = node});
  } else if (core_.state().node_power().is_waking(node)) {
    jobs_.tell_core({.kind = EventKind::NodeAwake, .at_ns = at, .node = node});
  }
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
}

}  // namespace goban::live::controller
