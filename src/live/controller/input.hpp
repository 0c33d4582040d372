// What goes into the controller and what comes out. Inputs are everything that can change the live
// scheduler's state: requests of users, engine reports, and time. The journal records them; the
// state is their fold. Orders follow from decisions; they go to the engine and to accounting.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "core/model/cluster.hpp"
#include "core/pilot/pilot_plan.hpp"
#include "live/controller/reservation.hpp"
#include "live/engine.hpp"
#include "live/job/job_spec.hpp"
#include "live/job/predicted_run.hpp"

namespace goban::live::controller {

/// The user who makes a request. Operators may change everything, other users only their own jobs.
struct Caller {
  uint32_t uid = 0;
  std::string user{};
  bool is_operator = false;
  std::string realm{};  ///< as of job::Owner
  [[nodiscard]] bool owns(const job::Owner& owner) const {
    return job::key_of({.uid = uid, .gid = 0, .user = user, .realm = realm}) == job::key_of(owner);
  }
  friend bool operator==(const Caller&, const Caller&) = default;
};

/// New jobs; several jobs form one array and get consecutive numbers. Their payload is already
/// stored (JobSpec::payload).
struct Submit {
  std::vector<job::JobSpec> jobs{};
  /// One for each job, or one for all; empty: nothing is predicted. Set by CommitCycle.
  std::vector<job::PredictedRun> predicted{};
};
/// A second Cancel of a stopping job goes on to the next step of its stop.
struct Cancel {
  JobId job{};
  Caller by{};
  bool now = false;  ///< kills it at once
  /// The job has ended: its results are not copied any more, and stay where they are.
  bool results = false;
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
/// Changes a job that does not run, or its array. Absent values stay as they are.
struct Alter {
  JobId job{};
  Caller by{};
  std::optional<TimeNs> walltime_limit_ns{};
  std::optional<int32_t> priority{};
  std::optional<int32_t> array_limit{};  ///< JobSpec::array_limit of all its tasks
};
/// Stops the processes of a running job; it keeps its GPUs, and its walltime limit pauses. By
/// operators only.
struct Suspend {
  JobId job{};
  Caller by{};
};
/// Lets a suspended job go on. By operators only.
struct Continue {
  JobId job{};
  Caller by{};
};
/// No job may start on the node from `from_ns` until it is resumed. Running jobs continue to their
/// limit, or are stopped if `now` is set.
struct Drain {
  NodeId node{};
  TimeNs from_ns = 0;
  bool now = false;
  std::string reason{};
};
struct Resume {
  NodeId node{};
};
/// An operator vouches that nothing runs on a node that is down: what it holds there is given up.
struct Fence {
  NodeId node{};
};
struct EngineReport {
  Report report{};
  /// Progress: what the job is expected to run for in total, by what it reports; unknown: as
  /// before. Set by CommitCycle, so that a replay decides alike.
  core::model::RunForecast expected{};
};
/// The history store has this job: it may be removed from the job table later.
struct Accounted {
  JobId job{};
};

/// The GPUs were measured: a scores table for all of them, as read by
/// core::knowledge::parse_scores. It is used until the configured scores change.
struct ScoresMeasured {
  std::string table{};
  std::string instead_of{};  ///< Controller::configured_scores() at that time; set by CommitCycle
};

/// Makes the next reservation.
struct Reserve {
  ReservationPlan plan{};  ///< without nodes: CommitCycle chooses them
  int32_t num_nodes = 0;   ///< number of nodes
  std::string kind{};      ///< GPU model, or a resource type that fits on the nodes; empty: any
  Caller by{};
};
/// Ends a reservation early, with all jobs in it.
struct CancelReservation {
  ReservationId reservation{};
  Caller by{};
};

/// Begins a pilot: from now on the policies of the plan decide in turn. By operators only.
struct StartPilot {
  core::pilot::Plan plan{};
  Caller by{};
};
/// Ends the pilot; the site's policy decides. By operators only.
struct StopPilot {
  Caller by{};
  std::string reason{};
};
/// The pilot goes on to a period, or ends; -1: `harm` says why it cannot. Made by CommitCycle.
struct PilotStep {
  int32_t period = 0;
  std::string harm{};  ///< the stop rule that is broken: the pilot ends; empty: none
};

using Input =
    std::variant<Submit, Cancel, Hold, Release, Requeue, Drain, Resume, EngineReport, Accounted,
                 ScoresMeasured, Reserve, CancelReservation, Alter, Suspend, Continue, JobSeen,
                 JobGone, ClusterSeen, Fence, StartPilot, StopPilot, PilotStep, StageReport>;

/// An input and when it was taken, on the scheduler's monotonic clock.
struct TimedInput {
  TimeNs at_ns = 0;
  Input input{};
};

/// One line of JSON without a line break. Doubles are exact.
[[nodiscard]] std::string to_text(const TimedInput& input);
/// Errors: BadData naming what is missing or wrong. Unknown fields are ignored, as an older release
/// may read the journal of a newer one.
[[nodiscard]] base::Result<TimedInput> parse_input(std::string_view text);

/// Engines know a GPU by its node and its index there.
[[nodiscard]] inline GpuPlace place_of(const core::model::Cluster& cluster, GpuId gpu) {
  const core::model::Node& node = cluster.node(cluster.node_of(gpu));
  return {.node = node.name, .index = static_cast<int32_t>(gpu.value - node.first_gpu)};
}

struct StopRun {
  RunId run{};
  StopReason reason = StopReason::Preempted;
  StopUrgency urgency = StopUrgency::Ask;
};
struct SuspendRun {
  RunId run{};
  bool suspended = false;  ///< otherwise it goes on
};
struct CapGpu {
  GpuPlace gpu{};
  double watts = 0;  ///< 0 = no limit
};
struct RestNode {
  std::string node{};
};
struct WakeNode {
  std::string node{};
};
/// Nothing ran on the node at `at_ns`, and nothing that was started there will go on.
struct FenceNode {
  std::string node{};
  TimeNs at_ns = 0;
};
/// The job is finished: its record goes to the history store, then the input Accounted follows.
struct AccountFor {
  JobId job{};
};
/// A job of the engine's queue was cancelled here and has no run: the engine is to end it.
struct WithdrawJob {
  JobId job{};
  std::string engine_id{};
};
/// A run that somebody else started is Goban's from now on.
struct AdoptRun {
  LaunchOrder order{};
};
using Order = std::variant<LaunchOrder, StopRun, SuspendRun, CapGpu, RestNode, WakeNode, AccountFor,
                           WithdrawJob, AdoptRun, FenceNode, StageOrder>;

}  // namespace goban::live::controller
