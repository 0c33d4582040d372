// Reservations between the book and the core: made, begun, ended.
#include <algorithm>
#include <fmt/format.h>

#include "live/controller/controller_state.hpp"

namespace goban::live::controller {

using core::model::EventKind;

void Controller::State::take(const Reserve& reserve, TimeNs at) {
  const ReservationId id(book.next_reservation++);
  LiveReservation made{.id = id, .plan = reserve.plan, .made_ns = at};
  // A journal may be of another cluster.
  const std::string wrong = core->state().resources().promised().problem(
      {id, made.plan.start_ns, made.plan.end_ns, made.plan.nodes});
  if (wrong.empty()) {
    tell_core({.kind = EventKind::NodesPromised,
               .at_ns = at,
               .until_ns = made.plan.end_ns,
               .reservation = id,
               .from_ns = made.plan.start_ns,
               .nodes = made.plan.nodes});
  } else {
    made.state = ReservationState::Cancelled;
    made.closed_ns = at;
    made.detail = "it cannot be: " + wrong;
  }
  book.reservations.emplace(id, std::move(made));
}

void Controller::State::take(const CancelReservation& cancel, TimeNs at) {
  const auto found = book.reservations.find(cancel.reservation);
  if (found == book.reservations.end() || !found->second.is_open()) return;
  close_reservation(found->second, ReservationState::Cancelled,
                    cancel.by.user.empty() ? "was cancelled" : "was cancelled by " + cancel.by.user,
                    at);
}

ReservationId Controller::State::reservation_of(const job::JobSpec& spec) const {
  const auto id = parse_reservation_name(spec.reservation);
  const LiveReservation* found = id ? book.find(*id) : nullptr;
  return found != nullptr && found->is_open() ? *id : ReservationId{};
}

void Controller::State::follow_reservations(TimeNs at) {
  // Ends first: another may begin on the same nodes.
  for (auto& [id, each] : book.reservations) {
    if (each.is_open() && at >= each.plan.end_ns) {
      close_reservation(each, ReservationState::Ended, "is over", at);
    }
  }
  for (auto& [id, each] : book.reservations) {
    const bool begins = each.state == ReservationState::Requested && at >= each.plan.start_ns;
    if (begins) begin_reservation(each, at);
  }
}

void Controller::State::begin_reservation(LiveReservation& reservation, TimeNs at) {
  reservation.state = ReservationState::Active;
  // They were to be over by now, and took longer to start than the core thought. Whoever else is
  // there goes back into the queue when the core decides.
  for (const core::scheduler::Slot slot : core->state().strangers(at)) {
    LiveJob& job = book.jobs.at(core->state().job(slot).job);
    if (job.stage != JobStage::Running || job.spec.walltime_limit_ns == 0) continue;
    job.detail =
        fmt::format("reservation {} begins on its nodes", reservation_name(reservation.id));
    stop_run(job, StopReason::TimedOut);
    tell_core({.kind = EventKind::JobKilled, .at_ns = at, .job = job.job});
  }
}

void Controller::State::close_reservation(LiveReservation& reservation, ReservationState how,
                                          const std::string& detail, TimeNs at) {
  reservation.state = how;
  reservation.closed_ns = at;
  reservation.detail = detail;
  const std::string why =
      fmt::format("reservation {} {}", reservation_name(reservation.id), detail);
  for (auto& [id, job] : book.jobs) {
    if (job.reservation != reservation.id || job.stage == JobStage::Done) continue;
    if (job.detail.empty()) job.detail = why;
    const JobResult result = job.first_start_ns >= 0 ? JobResult::TimedOut : JobResult::NeverRuns;
    withdraw(job, StopReason::TimedOut, result, at);
  }
  tell_core({.kind = EventKind::PromiseOver, .at_ns = at, .reservation = reservation.id});
}

TimeNs Controller::State::next_reservation_change_ns() const {
  TimeNs next = base::kNever;
  for (const auto& [id, each] : book.reservations) {
    if (!each.is_open()) continue;
    const bool begun = each.state == ReservationState::Active;
    next = std::min(next, begun ? each.plan.end_ns : each.plan.start_ns);
  }
  return next;
}

}  // namespace goban::live::controller
