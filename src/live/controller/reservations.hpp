// The life cycle of reservations: made, begun, ended.
#pragma once

#include <string>

#include "live/controller/jobs.hpp"

namespace goban::live::controller {

class Reservations {
 public:
  /// All of these outlive this.
  Reservations(JobBook& book, const DecisionCore& core, Jobs& jobs)
      : book_(book), core_(core), jobs_(jobs) {}

  void reserve(const Reserve& reserve, TimeNs at);
  void cancel(const CancelReservation& cancel, TimeNs at);
  /// Begins the reservations whose start has come, and ends those whose end has come.
  void follow(TimeNs at);
  /// When the next one begins or ends; kNever = none.
  [[nodiscard]] TimeNs next_ns() const;
  /// Removes reservations that were closed at least `keep_ns` ago.
  void forget_old(TimeNs at, TimeNs keep_ns);

 private:
  void begin(LiveReservation& reservation, TimeNs at);
  /// Ends all its jobs and returns its nodes to general use.
  void close(LiveReservation& reservation, ReservationState state, const std::string& detail,
             TimeNs at);

  JobBook& book_;
  const DecisionCore& core_;
  Jobs& jobs_;
};

}  // namespace goban::live::controller
