// The nodes of reservations, with their times. There is no clock: all results depend on the times
// passed in.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "core/model/job.hpp"

namespace goban::core::scheduler {

using base::TimeNs;
using model::NodeId;
using model::ReservationId;

/// The time for which a job would hold its resources.
struct HoldSpan {
  TimeNs from_ns = 0;
  TimeNs until_ns = base::kNever;
  model::JobId job{};  ///< invalid: no job in particular
  /// Its GPUs are of this model; JobState::kAnyModel: of any, also of several.
  uint32_t gpu_model = model::JobState::kAnyModel;
};

class PromisedNodes {
 public:
  struct Promise {
    ReservationId reservation{};
    TimeNs start_ns = 0;
    TimeNs end_ns = 0;
    std::vector<NodeId> nodes{};

    [[nodiscard]] bool holds_at(TimeNs now) const { return start_ns <= now && now < end_ns; }
    /// A part of the cluster: it has no end, and jobs of others stay there until they end.
    [[nodiscard]] bool is_part() const { return end_ns == base::kNever; }
  };

  explicit PromisedNodes(size_t num_nodes) : num_nodes_(num_nodes) {}

  /// Why the reservation cannot be added (no such node, an empty time, an overlap with another
  /// one); empty if it can.
  [[nodiscard]] std::string problem(const Promise& promise) const;
  /// Requires that problem() is empty.
  void add(Promise promise);
  void remove(ReservationId reservation);

  [[nodiscard]] bool empty() const { return promises_.empty(); }
  /// Which nodes a job may use does not change with time.
  [[nodiscard]] bool has_only_parts() const {
    return std::ranges::all_of(promises_, &Promise::is_part);
  }
  /// By reservation.
  [[nodiscard]] std::span<const Promise> all() const { return promises_; }
  [[nodiscard]] const Promise* find(ReservationId reservation) const;
  /// The earliest reservation of the node that overlaps the time, or null.
  [[nodiscard]] const Promise* overlapping(NodeId node, HoldSpan hold) const;
  /// The reservation in effect on the node at this time, or an invalid id.
  [[nodiscard]] ReservationId holder(NodeId node, TimeNs now) const;
  /// True if a job of this reservation, or of none, may hold a part of the node for this time. Jobs
  /// of a reservation start within its time; their limits may exceed the time that remains.
  [[nodiscard]] bool allows(NodeId node, ReservationId whose, HoldSpan hold) const;
  /// Starts and ends after this time, ascending.
  [[nodiscard]] std::vector<TimeNs> changes_after(TimeNs now) const;

 private:
  size_t num_nodes_;
  std::vector<Promise> promises_;             ///< by reservation
  std::vector<std::vector<size_t>> by_node_;  ///< indices into promises_; empty if there are none
  void index();
};

}  // namespace goban::core::scheduler
