// Which nodes are promised to reservations, and from when to when. It has no clock: all follows
// from the times that it is asked about.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "core/model/ids.hpp"

namespace goban::core::scheduler {

using base::TimeNs;
using model::NodeId;
using model::ReservationId;

/// The time for which a job would hold what it is given.
struct HoldSpan {
  TimeNs from_ns = 0;
  TimeNs until_ns = base::kNever;
};

class PromisedNodes {
 public:
  struct Promise {
    ReservationId reservation{};
    TimeNs start_ns = 0;
    TimeNs end_ns = 0;
    std::vector<NodeId> nodes{};

    [[nodiscard]] bool holds_at(TimeNs now) const { return start_ns <= now && now < end_ns; }
  };

  explicit PromisedNodes(size_t num_nodes) : num_nodes_(num_nodes) {}

  /// Why this cannot be promised, too: no such node, an empty time, a node that another has then.
  /// Empty: it can.
  [[nodiscard]] std::string problem(const Promise& promise) const;
  /// problem() has nothing against it.
  void add(Promise promise);
  void remove(ReservationId reservation);

  [[nodiscard]] bool empty() const { return promises_.empty(); }
  /// By reservation.
  [[nodiscard]] std::span<const Promise> all() const { return promises_; }
  [[nodiscard]] const Promise* find(ReservationId reservation) const;
  /// The promise of the node that overlaps the time, the earliest one; null: none.
  [[nodiscard]] const Promise* overlapping(NodeId node, HoldSpan hold) const;
  /// Who has the node at that time; invalid: nobody.
  [[nodiscard]] ReservationId holder(NodeId node, TimeNs now) const;
  /// A job of this reservation, or of none, may hold a part of the node for that time. Jobs of a
  /// reservation start within its time, and may ask for more than what is left of it.
  [[nodiscard]] bool allows(NodeId node, ReservationId whose, HoldSpan hold) const;
  /// Starts and ends behind that time, ascending.
  [[nodiscard]] std::vector<TimeNs> changes_after(TimeNs now) const;

 private:
  size_t num_nodes_;
  std::vector<Promise> promises_;             ///< by reservation
  std::vector<std::vector<size_t>> by_node_;  ///< places in promises_; empty while there are none
  void index();
};

}  // namespace goban::core::scheduler
