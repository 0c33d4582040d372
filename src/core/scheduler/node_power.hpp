// Which nodes are awake, and when an idle one may rest. The core carries it out in core.cpp.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "core/policy/knowledge.hpp"
#include "core/policy/power/power.hpp"

namespace goban::core::scheduler {

using base::TimeNs;
using model::NodeId;

/// The power books of a cluster's nodes. Costs: logarithmic in the idle nodes.
class NodePower {
 public:
  /// All nodes are awake and idle at time 0. `knowledge` may be null: then no node rests, for
  /// nobody knows what that saves.
  NodePower(const model::Cluster& cluster, const policy::Power& power,
            const policy::SiteKnowledge* knowledge);

  enum class NodeState : uint8_t { Awake, Resting, Waking };
  struct Image {
    std::vector<NodeState> states{};  ///< by node
    std::vector<TimeNs> due_ns{};     ///< of idle nodes: when they may rest; else kNever
  };
  [[nodiscard]] Image image() const { return {state_, due_ns_}; }
  /// Takes over an image of the same cluster.
  void restore(const Image& image);

  /// Some node may rest at some time.
  [[nodiscard]] bool active() const { return active_; }
  /// The node became idle (and open), or is no longer.
  void set_idle(NodeId node, bool idle, TimeNs now);
  /// Idle nodes whose time to rest has come, in order of that time; they rest from now on.
  [[nodiscard]] std::vector<NodeId> put_to_rest(TimeNs now);
  /// When the next idle node may rest; kNever if none.
  [[nodiscard]] TimeNs next_rest_ns() const {
    return idle_.empty() ? base::kNever : idle_.begin()->first;
  }

  /// Up to `count` resting nodes, lowest first; they are on their way from now on.
  [[nodiscard]] std::vector<NodeId> wake(size_t count);
  [[nodiscard]] size_t num_waking() const { return num_waking_; }
  [[nodiscard]] size_t num_resting() const { return resting_.size(); }
  [[nodiscard]] bool is_resting(NodeId node) const {
    return state_[node.index()] == NodeState::Resting;
  }
  [[nodiscard]] bool is_waking(NodeId node) const {
    return state_[node.index()] == NodeState::Waking;
  }
  /// One idle node rests from now on; one resting node is on its way. False if it is not so.
  [[nodiscard]] bool rest(NodeId node);
  [[nodiscard]] bool wake_one(NodeId node);
  /// A waking node is there, or one that was lost came back: it is awake and idle.
  void arrived(NodeId node, TimeNs now);
  /// The node failed or was closed.
  void lost(NodeId node);

 private:
  std::vector<TimeNs> rest_after_ns_;  ///< by node
  std::vector<NodeState> state_;
  std::vector<TimeNs> due_ns_;  ///< of idle nodes: when they may rest; else kNever
  std::set<std::pair<TimeNs, NodeId>> idle_;
  std::set<NodeId> resting_;
  size_t num_waking_ = 0;
  bool active_ = false;
};

}  // namespace goban::core::scheduler
