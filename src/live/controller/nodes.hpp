// Nodes out of service: drained by an operator, down, or unable to start runs for now.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "live/controller/jobs.hpp"
#include "live/controller/launch_hold.hpp"

namespace goban::live::controller {

class Nodes {
 public:
  /// All of these outlive this.
  Nodes(const DecisionCore& core, Jobs& jobs, std::vector<Order>& orders)
      : core_(core), jobs_(jobs), orders_(orders) {}

  void drain(const Drain& drain, TimeNs at);
  void resume(NodeId node, TimeNs at);
  /// Ordered until the node answers again.
  void fence(NodeId node, TimeNs at);
  [[nodiscard]] std::vector<Order> fences() const;
  /// The engine reports that the node is down.
  void lost(NodeId node, TimeNs at);
  /// The node is available: it was repaired or woken.
  void found(NodeId node, TimeNs at);

  /// The engine could not start a run on the node, or declined it: nothing starts there until then.
  /// Running jobs continue. kNever: until all runs that are stopping have left the node.
  void hold(NodeId node, const std::string& reason, TimeNs at, TimeNs until_ns);
  /// The engine declined a GPU: it is left out until then.
  void leave_out(GpuId gpu, TimeNs at, TimeNs until_ns);
  /// Ends the holds that are over.
  void end_holds(const Runs& runs, TimeNs at);
  [[nodiscard]] const std::map<NodeId, LaunchHold>& holds() const { return holds_; }
  /// When the next hold ends; kNever = there is none.
  [[nodiscard]] TimeNs next_ns() const;

  /// Drained nodes with their reasons.
  [[nodiscard]] const std::map<NodeId, std::string>& drained() const { return drained_; }
  [[nodiscard]] const std::set<NodeId>& down() const { return down_; }
  /// Nodes that were ordered to wake and are not available yet.
  [[nodiscard]] std::vector<NodeId> waking() const;

  /// The engine itself lets nothing new start on the node, or does so again.
  void drain_there(NodeId node, bool is_drained, const std::string& reason, TimeNs at);
  [[nodiscard]] const std::set<NodeId>& drained_there() const { return drained_there_; }
  [[nodiscard]] bool is_drained_there(NodeId node) const { return drained_there_.contains(node); }
  /// The node is silent while runs are on it (SeenNode::silent), or is not any more.
  void silent(NodeId node, bool is_silent);
  /// It is neither down nor silent: what was said of it before holds no more.
  void answers(NodeId node) { fenced_.erase(node); }
  [[nodiscard]] const std::set<NodeId>& silent() const { return silent_; }
  void renumber(const core::scheduler::ClusterNumbers& numbers);

  /// The fields `drained`, `down`, `silent`, `fenced`, `holds` and `left_out` of snapshots.
  void write(nlohmann::json& snapshot) const;
  void read(base::FieldReader& snapshot);

 private:
  const DecisionCore& core_;
  Jobs& jobs_;
  std::vector<Order>& orders_;
  std::map<NodeId, std::string> drained_;
  std::set<NodeId> drained_there_;  ///< of `drained_`: by the engine, not by an operator
  std::set<NodeId> down_;
  std::set<NodeId> silent_;
  std::map<NodeId, TimeNs> fenced_;  ///< since when
  std::map<NodeId, LaunchHold> holds_;
  std::map<GpuId, TimeNs> left_out_;  ///< until when
};

}  // namespace goban::live::controller
