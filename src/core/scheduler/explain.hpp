// Why a job waits, from the state of the core. Nothing is logged for it; a replay can answer for
// any time.
#pragma once

#include "core/scheduler/core.hpp"

namespace goban::core::scheduler {

enum class WaitCause : uint8_t {
  NotWaiting,     ///< it runs, or is finished
  ArrayLimit,     ///< the maximum number of tasks of its array run
  AccountLimit,   ///< a hard limit of its account or user
  NoFreeGpus,     ///< fewer GPUs are free than it requests
  Window,         ///< it would run into a maintenance window
  Fragments,      ///< enough GPUs are free, but the placement cannot use them
  HostResources,  ///< enough GPUs are free, but not the cores, memory or SSD of its instances
  Reservation,    ///< it fits, but would delay an earlier job with a backfill reservation
  Round,          ///< decisions are made at the end of rounds only; the next is still ahead
  Order,          ///< it fits, but the policy lets no job overtake the one before it
  NotBegun,       ///< its reservation has not started
  Promised,       ///< it would run into another reservation
  Sized,          ///< the policy of sizes has no GPUs for it now
};

/// The reason at one time, after a decision.
struct WaitReason {
  WaitCause cause = WaitCause::NotWaiting;
  int32_t free_gpus = 0;
  /// Another waiting job precedes it; `head` is the first of the queue.
  bool is_behind = false;
  JobId head{};
  /// Predicted time at which enough running jobs have ended for `head`; kNever = unknown.
  TimeNs head_start_ns = base::kNever;
  model::ReservationId reservation{};    ///< NotBegun, Promised: the first that prevents its start
  TimeNs reservation_ns = base::kNever;  ///< its start

  /// Equal for display: the same cause, job before it and reservation.
  [[nodiscard]] bool same_as(const WaitReason& other) const {
    return cause == other.cause && is_behind == other.is_behind && head == other.head &&
           reservation == other.reservation;
  }
};

/// Why job `id` waits after the decision of `now`. Cost: if enough GPUs are free, a copy of the
/// resources and up to three placement searches.
[[nodiscard]] WaitReason why_waiting(const Core& core, JobId id, TimeNs now, uint64_t seed);

/// The waiting jobs before job `id` in queue order, at most `most`; `count` is set to the number of
/// all.
[[nodiscard]] std::vector<JobId> waiting_before(const Core& core, JobId id, size_t most,
                                                size_t& count);

}  // namespace goban::core::scheduler
