#include "study/history/outages.hpp"

#include <algorithm>

namespace goban::study::history {
namespace {

using base::TimeNs;
using core::model::Event;
using core::model::EventKind;
using core::model::NodeId;

/// The events of one node, in time order.
class NodeTimeline {
 public:
  NodeTimeline(NodeId node, std::vector<Outage> outages)
      : node_(node), outages_(std::move(outages)) {
    // A failure precedes maintenance that starts at the same time: its jobs are lost.
    std::ranges::stable_sort(outages_, {}, [](const Outage& outage) {
      return std::pair(outage.begin_ns, !outage.is_failure);
    });
    announces_ =
        std::ranges::any_of(outages_, [](const Outage& outage) { return !outage.is_failure; });
  }

  void append_to(std::vector<Event>& events) const {
    TimeNs up_since = 0;
    for (size_t i = 0; i < outages_.size();) {
      if (announces_) announce(i, up_since, events);
      const Outage& first = outages_[i];
      events.push_back(
          event(first.is_failure ? EventKind::NodeLost : EventKind::NodeClosed, first.begin_ns));
      up_since = first.end_ns;
      for (++i; i < outages_.size() && outages_[i].begin_ns <= up_since; ++i) {
        up_since = std::max(up_since, outages_[i].end_ns);
      }
      if (up_since == base::kNever) return;
      events.push_back(event(EventKind::NodeRestored, up_since));
    }
  }

 private:
  [[nodiscard]] Event event(EventKind kind, TimeNs at_ns) const {
    Event out;
    out.kind = kind;
    out.at_ns = at_ns;
    out.node = node_;
    return out;
  }

  /// Announcements while the node is up, from `up_since` to the outage `next`: at any time the
  /// earliest known window. A window announced after an earlier one adds nothing.
  void announce(size_t next, TimeNs up_since, std::vector<Event>& events) const {
    const TimeNs until_ns = outages_[next].begin_ns;
    std::vector<std::pair<TimeNs, TimeNs>> known;  // time of the announcement, start of the window
    for (size_t i = next; i < outages_.size(); ++i) {
      const TimeNs at_ns = std::max(outages_[i].announce_ns, up_since);
      if (outages_[i].is_failure || at_ns >= until_ns) continue;
      // Windows are ordered by start, so this one matters only if it is known before all others.
      if (!known.empty() && at_ns >= known.back().first) continue;
      known.emplace_back(at_ns, outages_[i].begin_ns);
      if (at_ns == up_since) break;
    }
    for (auto it = known.rbegin(); it != known.rend(); ++it) {
      events.push_back(event(EventKind::NodeDrained, it->first));
      events.back().until_ns = it->second;
    }
  }

  NodeId node_;
  std::vector<Outage> outages_;
  bool announces_ = false;
};

}  // namespace

std::vector<Event> outage_events(const NodeOutages& outages) {
  std::vector<Event> events;
  for (const auto& [node, of_node] : outages) {
    NodeTimeline(NodeId(node), of_node).append_to(events);
  }
  return events;
}

}  // namespace goban::study::history
