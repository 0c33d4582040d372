// Nodes out of service: drained by an operator, or down.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "live/controller/jobs.hpp"

namespace goban::live::controller {

class Nodes {
 public:
  /// All of these outlive this.
  Nodes(const DecisionCore& core, Jobs& jobs, std::vector<Order>& orders)
      : core_(core), jobs_(jobs), orders_(orders) {}

  void drain(const Drain& drain, TimeNs at);
  void resume(NodeId node, TimeNs at);
  /// The engine reports that the node is down.
  void lost(NodeId node, TimeNs at);
  /// The node is available: it was repaired or woken.
  void found(NodeId node, TimeNs at);

  /// Drained nodes with their reasons.
  [[nodiscard]] const std::map<NodeId, std::string>& drained() const { return drained_; }
  [[nodiscard]] const std::set<NodeId>& down() const { return down_; }
  /// Nodes that were ordered to wake and are not available yet.
  [[nodiscard]] std::vector<NodeId> waking() const;

  /// The fields `drained` and `down` of snapshots.
  void write(nlohmann::json& snapshot) const;
  void read(base::FieldReader& snapshot);

 private:
  const DecisionCore& core_;
  Jobs& jobs_;
  std::vector<Order>& orders_;
  std::map<NodeId, std::string> drained_;
  std::set<NodeId> down_;
};

}  // namespace goban::live::controller
