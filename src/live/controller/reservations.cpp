#include "live/controller/reservations.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace goban::live::controller {

using core::model::EventKind;

void Reservations::reserve(const Reserve& reserve, TimeNs at) {
  const ReservationId id(book_.next_reservation++);
  LiveReservation made{.id = id, .plan = reserve.plan, .made_ns = at};
  // The journal may be from another cluster.
  const std::string wrong = core_.state().resources().promised().problem(
      {id, made.plan.start_ns, made.plan.end_ns, made.plan.nodes});
  if (wrong.empty()) {
    jobs_.tell_core({.kind = EventKind::NodesPromised,
                     .at_ns = at,
                     .until_ns = made.plan.end_ns,
                     .reservation = id,
                     .from_ns = made.plan.start_ns,
                     .nodes = made.plan.nodes});
  } else {
    made.state = ReservationState::Cancelled;
    made.closed_ns = at;
    made.detail = "is impossible: " + wrong;
  }
  book_.reservations.emplace(id, std::move(made));
}

void Reservations::cancel(const CancelReservation& cancel, TimeNs at) {
  const auto found = book_.reservations.find(cancel.reservation);
  if (found == book_.reservations.end() || !found->second.is_open()) return;
  close(found->second, ReservationState::Cancelled,
        cancel.by.user.empty() ? "was cancelled" : "was cancelled by " + cancel.by.user, at);
}

void Reservations::follow(TimeNs at) {
  // Ends come first: another reservation may begin on the same nodes.
  for (auto& [id, each] : book_.reservations) {
    if (each.is_open() && at >= each.plan.end_ns) {
      close(each, ReservationState::Ended, "has ended", at);
    }
  }
  for (auto& [id, each] : book_.reservations) {
    if (each.state == ReservationState::Requested && at >= each.plan.start_ns) begin(each, at);
  }
}

void Reservations::begin(LiveReservation& reservation, TimeNs at) {
  reservation.state = ReservationState::Active;
  // Jobs with a limit should have ended by now; they took longer to start than the core assumed.
  // The others return to the queue at the next decision.
  for (const core::scheduler::Slot slot : core_.state().strangers(at)) {
    LiveJob& job = book_.jobs.at(core_.state().job(slot).job);
    const bool runs = job.stage == JobStage::Running || job.stage == JobStage::Suspended;
    if (!runs || job.spec.walltime_limit_ns == 0) continue;
    job.detail =
        fmt::format("reservation {} begins on its nodes", reservation_name(reservation.id));
    jobs_.stop(job, StopReason::TimedOut, at);
    jobs_.tell_core({.kind = EventKind::JobKilled, .at_ns = at, .job = job.job});
  }
}

void Reservations::close(LiveReservation& reservation, ReservationState state,
                         const std::string& detail, TimeNs at) {
  reservation.state = state;
  reservation.closed_ns = at;
  reservation.detail = detail;
  const std::string why =
      fmt::format("reservation {} {}", reservation_name(reservation.id), detail);
  for (auto& [id, job] : book_.jobs) {
    if (job.reservation != reservation.id || job.stage == JobStage::Done) continue;
    if (job.detail.empty()) job.detail = why;
    const JobResult result = job.first_start_ns >= 0 ? JobResult::TimedOut : JobResult::NeverRuns;
    jobs_.withdraw(job, StopReason::TimedOut, result, at);
  }
  jobs_.tell_core({.kind = EventKind::PromiseOver, .at_ns = at, .reservation = reservation.id});
}

TimeNs Reservations::next_ns() const {
  TimeNs next = base::kNever;
  for (const auto& [id, each] : book_.reservations) {
    if (!each.is_open()) continue;
    const bool active = each.state == ReservationState::Active;
    next = std::min(next, active ? each.plan.end_ns : each.plan.start_ns);
  }
  return next;
}

void Reservations::forget_old(TimeNs at, TimeNs keep_ns) {
  std::erase_if(book_.reservations, [&](const auto& each) {
    const LiveReservation& one = each.second;
    return !one.is_open() && at >= base::add_saturating(one.closed_ns, keep_ns);
  });
}

}  // namespace goban::live::controller
