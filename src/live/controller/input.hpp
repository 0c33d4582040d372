// Everything that can change the live scheduler's state: what people ask for, what the engine
// reports, and time. The journal keeps these; the state is their fold.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "live/controller/reservation.hpp"
#include "live/engine.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live::controller {

/// Who asks. Operators may do everything; others only with their own jobs.
struct Caller {
  uint32_t uid = 0;
  std::string user{};
  bool is_operator = false;
  friend bool operator==(const Caller&, const Caller&) = default;
};

/// New jobs; several are one array and get numbers that follow each other. The payload lies in the
/// folder of the first already.
struct Submit {
  std::vector<job::JobSpec> jobs{};
};
struct Cancel {
  JobId job{};
  Caller by{};
};
struct Hold {
  JobId job{};
  Caller by{};
};
struct Release {
  JobId job{};
  Caller by{};
};
/// Stops a running job and puts it back into the queue.
struct Requeue {
  JobId job{};
  Caller by{};
};
/// Nothing may start on the node from `from_ns` on; until it is resumed. Running jobs go on to
/// their limit, or are stopped if `now` is set.
struct Drain {
  NodeId node{};
  TimeNs from_ns = 0;
  bool now = false;
  std::string reason{};
};
struct Resume {
  NodeId node{};
};
struct EngineReport {
  Report report{};
};
/// The history store has this job: the book may forget it in time.
struct Accounted {
  JobId job{};
};

/// The GPUs were measured: a scores table as core::knowledge::parse_scores reads it, for all of
/// them. It counts from now on, until the configured scores are others.
struct ScoresMeasured {
  std::string table{};
  std::string instead_of{};  ///< Controller::configured_scores() then; CommitCycle fills it in
};

/// Makes the next reservation.
struct Reserve {
  ReservationPlan plan{};  ///< without nodes: CommitCycle chooses them
  int32_t num_nodes = 0;   ///< so many of them
  std::string kind{};      ///< of this GPU model, or on which this resource type fits; empty: any
  Caller by{};
};
/// Ends a reservation before its time, and all jobs in it.
struct CancelReservation {
  ReservationId reservation{};
  Caller by{};
};

using Input = std::variant<Submit, Cancel, Hold, Release, Requeue, Drain, Resume, EngineReport,
                           Accounted, ScoresMeasured, Reserve, CancelReservation>;

/// An input and when it was taken, on the scheduler's clock, which never goes back.
struct TimedInput {
  TimeNs at_ns = 0;
  Input input{};
};

/// One line of JSON without a line break; exact for every double.
[[nodiscard]] std::string to_text(const TimedInput& input);
/// Errors: BadData naming what is missing or wrong. Unknown fields are ignored, for an older
/// release may read what a newer one wrote.
[[nodiscard]] base::Result<TimedInput> parse_input(std::string_view text);

}  // namespace goban::live::controller
