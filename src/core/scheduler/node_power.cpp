#include "core/scheduler/node_power.hpp"

namespace goban::core::scheduler {

NodePower::NodePower(const model::Cluster& cluster, const policy::Power& power,
                     const policy::SiteKnowledge* knowledge)
    : rest_after_ns_(cluster.nodes().size(), base::kNever),
      state_(cluster.nodes().size(), NodeState::Awake),
      due_ns_(cluster.nodes().size(), base::kNever) {
  if (!power.may_rest() || knowledge == nullptr || knowledge->power.empty()) return;
  for (size_t i = 0; i < rest_after_ns_.size(); ++i) {
    const model::Node& node = cluster.nodes()[i];
    rest_after_ns_[i] = power.rest_after_ns(knowledge->power[node.gpu_model], node.num_gpus);
    active_ = active_ || rest_after_ns_[i] != base::kNever;
    set_idle(NodeId(i), true, 0);
  }
}

void NodePower::restore(const Image& image) {
  state_ = image.states;
  // Under another policy than the image's, idle nodes may no longer sleep.
  for (size_t i = 0; i < due_ns_.size(); ++i) {
    due_ns_[i] = rest_after_ns_[i] == base::kNever ? base::kNever : image.due_ns[i];
  }
  idle_.clear();
  resting_.clear();
  num_waking_ = 0;
  for (size_t i = 0; i < state_.size(); ++i) {
    if (due_ns_[i] != base::kNever) idle_.emplace(due_ns_[i], NodeId(i));
    if (state_[i] == NodeState::Resting) resting_.insert(NodeId(i));
    num_waking_ += state_[i] == NodeState::Waking ? 1 : 0;
  }
  // Sleeping nodes must be woken even if nodes may no longer sleep.
  active_ = active_ || num_waking_ > 0 || !resting_.empty();
}

void NodePower::set_idle(NodeId node, bool idle, TimeNs now) {
  TimeNs& due = due_ns_[node.index()];
  if (idle == (due != base::kNever)) return;
  if (!idle) {
    idle_.erase({due, node});
    due = base::kNever;
    return;
  }
  due = base::add_saturating(now, rest_after_ns_[node.index()]);
  if (due != base::kNever) idle_.emplace(due, node);
}

std::vector<NodeId> NodePower::put_to_rest(TimeNs now, const Excepted& excepted) {
  std::vector<NodeId> nodes;
  while (!idle_.empty() && idle_.begin()->first <= now) {
    const NodeId node = idle_.begin()->second;
    set_idle(node, false, now);
    if (excepted(node)) continue;
    state_[node.index()] = NodeState::Resting;
    resting_.insert(node);
    nodes.push_back(node);
  }
  return nodes;
}

std::vector<NodeId> NodePower::wake(size_t count, const Excepted& excepted) {
  std::vector<NodeId> nodes;
  for (auto next = resting_.begin(); nodes.size() < count && next != resting_.end();) {
    const NodeId node = *next;
    if (excepted(node)) {
      ++next;
      continue;
    }
    next = resting_.erase(next);
    state_[node.index()] = NodeState::Waking;
    ++num_waking_;
    nodes.push_back(node);
  }
  return nodes;
}

bool NodePower::rest(NodeId node) {
  if (state_[node.index()] != NodeState::Awake) return false;
  set_idle(node, false, 0);
  state_[node.index()] = NodeState::Resting;
  resting_.insert(node);
  active_ = true;
  return true;
}

bool NodePower::wake_one(NodeId node) {
  if (resting_.erase(node) == 0) return false;
  state_[node.index()] = NodeState::Waking;
  ++num_waking_;
  return true;
}

void NodePower::lost(NodeId node) {
  NodeState& state = state_[node.index()];
  num_waking_ -= state == NodeState::Waking ? 1 : 0;
  if (state == NodeState::Resting) resting_.erase(node);
  state = NodeState::Awake;
  set_idle(node, false, 0);
}

void NodePower::arrived(NodeId node, TimeNs now) {
  lost(node);
  if (active_) set_idle(node, true, now);
}

}  // namespace goban::core::scheduler
