// Times in which nodes are down, whatever the source: incidents, spot supply.
#pragma once

#include <map>
#include <vector>

#include "base/time.hpp"
#include "core/model/event.hpp"

namespace goban::study::history {

/// An interval in which one node is down.
struct Outage {
  base::TimeNs begin_ns = 0;
  base::TimeNs end_ns = base::kNever;
  bool is_failure = false;       ///< its jobs are lost, not stopped in good order
  base::TimeNs announce_ns = 0;  ///< of maintenance
};

/// By node, so that events at the same time are in the order of the nodes.
using NodeOutages = std::map<size_t, std::vector<Outage>>;

/// NodeLost (failure), NodeClosed (maintenance starts), NodeRestored, NodeDrained (the next window
/// is known); node by node, not yet sorted by time. Where outages of a node overlap, it goes down
/// once, at the start of the first, and returns once, at the end of the last. A window is announced
/// again after each return, since a returning node has lost it.
[[nodiscard]] std::vector<core::model::Event> outage_events(const NodeOutages& outages);

}  // namespace goban::study::history
