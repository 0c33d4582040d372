// Why a job waits, asked of the core itself: nothing is logged for it, every question can be put to
// a replay.
#pragma once

#include "core/scheduler/core.hpp"

namespace goban::core::scheduler {

enum class WaitCause : uint8_t {
  NotWaiting,     ///< it runs, or is not active
  ArrayLimit,     ///< so many tasks of its array run as may
  AccountLimit,   ///< a hard limit of its account or user
  NoFreeGpus,     ///< fewer GPUs are free than it asks for
  Window,         ///< it would run into a maintenance window
  Fragments,      ///< enough GPUs are free, but not where the placement could use them
  HostResources,  ///< enough GPUs are free, but not the cores, memory or SSD of its instances
  Reservation,    ///< it would fit, but would delay a job before it that has a reservation
  Round,          ///< decisions are made at the ends of rounds only, and none was made yet
  Order,          ///< it would fit, but the policy lets nobody overtake the job before it
  NotBegun,       ///< the reservation that it asks for has not begun
  Promised,       ///< it would run into a reservation of others
};

/// The answer at one moment, after a decision.
struct WaitReason {
  WaitCause cause = WaitCause::NotWaiting;
  int32_t free_gpus = 0;
  /// Another waiting job stands before it; `head` is the first of the queue then.
  bool is_behind = false;
  JobId head{};
  /// When enough of the running jobs end for `head`, as far as known; kNever = unknown.
  TimeNs head_start_ns = base::kNever;
  model::ReservationId reservation{};    ///< NotBegun, Promised: the first that stands in its way
  TimeNs reservation_ns = base::kNever;  ///< when that one begins

  /// Alike for a person: the same cause and the same job before it.
  [[nodiscard]] bool same_as(const WaitReason& other) const {
    return cause == other.cause && is_behind == other.is_behind && head == other.head &&
           reservation == other.reservation;
  }
};

/// Why job `id` waits after the decision of `now`. Cost: where enough GPUs are
/// free, a copy of the books and one placement search.
[[nodiscard]] WaitReason why_waiting(const Core& core, JobId id, TimeNs now, uint64_t seed);

/// The waiting jobs before job `id` in queue order, at most `most`; the count of all goes to
/// `count`.
[[nodiscard]] std::vector<JobId> waiting_before(const Core& core, JobId id, size_t most,
                                                size_t& count);

}  // namespace goban::core::scheduler
