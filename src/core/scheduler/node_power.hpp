// Power states of nodes: which are awake, and when an idle one may sleep (used by core.cpp).
#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "core/policy/knowledge.hpp"
#include "core/policy/power/power.hpp"

namespace goban::core::scheduler {

using base::TimeNs;
using model::NodeId;

/// Power states of a cluster's nodes. Cost of an operation: logarithmic in the number of idle
/// nodes.
class NodePower {
 public:
  /// All nodes are awake and idle at time 0. Without `knowledge` (null) no node sleeps, because the
  /// savings are unknown.
  NodePower(const model::Cluster& cluster, const policy::Power& power,
            const policy::SiteKnowledge* knowledge);

  enum class NodeState : uint8_t { Awake, Resting, Waking };
  struct Image {
    std::vector<NodeState> states{};  ///< by node
    std::vector<TimeNs> due_ns{};     ///< of idle nodes: when they may sleep; otherwise kNever
  };
  [[nodiscard]] Image image() const { return {state_, due_ns_}; }
  /// Restores an image of the same cluster.
  void restore(const Image& image);

  /// Nodes may sleep at all.
  [[nodiscard]] bool active() const { return active_; }
  /// The node became idle (and open), or ceased to be.
  void set_idle(NodeId node, bool idle, TimeNs now);
  /// Of nodes that an operator works on, for example: they are neither put to sleep nor woken.
  using Excepted = std::function<bool(NodeId)>;
  /// Puts idle nodes to sleep that are due; returns them in order of due time. An excepted one
  /// counts as not idle until set_idle() says otherwise.
  [[nodiscard]] std::vector<NodeId> put_to_rest(TimeNs now, const Excepted& excepted);
  /// When the next idle node is due to sleep; kNever if none.
  [[nodiscard]] TimeNs next_rest_ns() const {
    return idle_.empty() ? base::kNever : idle_.begin()->first;
  }

  /// Wakes up to `count` sleeping nodes, lowest first, and returns them.
  [[nodiscard]] std::vector<NodeId> wake(size_t count, const Excepted& excepted);
  [[nodiscard]] size_t num_waking() const { return num_waking_; }
  [[nodiscard]] size_t num_resting() const { return resting_.size(); }
  /// A node sleeps that wake() would wake.
  [[nodiscard]] bool may_wake(const Excepted& excepted) const {
    return !std::ranges::all_of(resting_, excepted);
  }
  [[nodiscard]] bool is_resting(NodeId node) const {
    return state_[node.index()] == NodeState::Resting;
  }
  [[nodiscard]] bool is_waking(NodeId node) const {
    return state_[node.index()] == NodeState::Waking;
  }
  /// Puts one idle node to sleep; wakes one sleeping node. False if the node is in another state.
  [[nodiscard]] bool rest(NodeId node);
  [[nodiscard]] bool wake_one(NodeId node);
  /// A waking node is ready, or a lost node is back: it is awake and idle.
  void arrived(NodeId node, TimeNs now);
  /// The node failed or was closed.
  void lost(NodeId node);

 private:
  std::vector<TimeNs> rest_after_ns_;  ///< by node
  std::vector<NodeState> state_;
  std::vector<TimeNs> due_ns_;  ///< of idle nodes: when they may sleep; otherwise kNever
  std::set<std::pair<TimeNs, NodeId>> idle_;
  std::set<NodeId> resting_;
  size_t num_waking_ = 0;
  bool active_ = false;
};

}  // namespace goban::core::scheduler
