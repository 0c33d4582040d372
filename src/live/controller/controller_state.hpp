// The inside of Controller: the book, the core, and the steps between them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "live/controller/applications.hpp"
#include "live/controller/controller.hpp"
#include "live/controller/observer.hpp"

namespace goban::live::controller {

/// A job whose runs were lost so often without its own fault is not started again.
inline constexpr uint32_t kBreakagesMax = 5;

/// A run has to hold its GPUs so long to say anything of its application.
inline constexpr double kTellingRun_s = 5;

struct Controller::State {
  State(Site configured, const core::model::ReportedProgress& reported);
  void reset_core();

  // Inputs, one function each (controller.cpp).
  void take(const Submit& submit, TimeNs at);
  void take(const Cancel& cancel, TimeNs at);
  void take(const Hold& hold, TimeNs at);
  void take(const Release& release, TimeNs at);
  void take(const Requeue& requeue, TimeNs at);
  void take(const Drain& drain, TimeNs at);
  void take(const Resume& resume, TimeNs at);
  void take(const EngineReport& input, TimeNs at);
  void take(const Accounted& accounted, TimeNs at);
  void take(const ScoresMeasured& scores, TimeNs at);
  void take(const Reserve& reserve, TimeNs at);
  void take(const CancelReservation& cancel, TimeNs at);

  // Reservations (reservations.cpp).
  /// The reservation that a new job asks for, if it is open.
  [[nodiscard]] ReservationId reservation_of(const job::JobSpec& spec) const;
  /// Begins those whose time has come, and ends those whose time is over.
  void follow_reservations(TimeNs at);
  void begin_reservation(LiveReservation& reservation, TimeNs at);
  /// No job goes on in it; its nodes are everybody's.
  void close_reservation(LiveReservation& reservation, ReservationState how,
                         const std::string& detail, TimeNs at);
  [[nodiscard]] TimeNs next_reservation_change_ns() const;

  // Reports (controller_reports.cpp).
  void started(const Report& report, TimeNs at);
  void ended(const Report& report, TimeNs at);
  void ended_after_stop(LiveJob& job, StopReason reason, const Report& report, TimeNs at);
  /// The run is not there any more.
  void leave(LiveJob& job, const LiveRun& run, const Report& report, TimeNs at);
  /// Forgets the launch that was to come, of which the engine never heard. False: there was none.
  bool drop_pending(LiveJob& job);
  [[nodiscard]] static bool may_try_again(const LiveJob& job);
  /// A running job has neighbours on its GPUs.
  [[nodiscard]] bool shares_now(JobId id) const;
  /// GPUs of a running job have a power limit.
  [[nodiscard]] bool is_capped(const LiveJob& job) const;
  /// Seconds of an epoch alone: its own, or that of others of its application; negative = not
  /// known.
  [[nodiscard]] double epoch_s(JobId id) const;
  [[nodiscard]] Standing standing_of(const LiveJob& job) const;
  /// What a run that is over says of its application, if it was long enough and never had
  /// neighbours.
  [[nodiscard]] static core::model::AloneUse use_alone(const LiveJob& job, const LiveRun& run,
                                                       const RunUsage& usage, TimeNs at);
  /// Tells the core what was observed of the job, if it asked and enough is known.
  void observe_rate(JobId id, TimeNs at);
  /// A run is gone without a word of its own: with its node, or with its supervisor.
  void lost(RunId id, const std::string& detail, TimeNs at);
  void node_down(core::model::NodeId node, TimeNs at);
  /// The node is there: it came back, or was woken.
  void node_up(core::model::NodeId node, TimeNs at);

  // Steps of decisions (controller_decisions.cpp).
  void before_decision(TimeNs at);
  void after_decision(TimeNs at);
  /// The reason of a recorded place, which the journal does not keep.
  void fill_reason(JobId job, core::model::Allocation& allocation) const;

  // Steps of jobs (controller_jobs.cpp).
  /// The core hears of the job: it waits from now on.
  void enter_core(LiveJob& job, TimeNs at);
  void tell_core(const core::model::Event& event);
  /// Jobs that have other neighbours or limits now are observed from here on.
  void restart_disturbed(TimeNs at);
  void carry_out(std::span<const core::model::Action> actions, TimeNs at);
  /// The power limit of a GPU as of now: a number of the power model's, -1 = none.
  [[nodiscard]] int8_t cap_of(GpuId gpu) const;
  [[nodiscard]] CapGpu limit_order(GpuId gpu, int8_t cap) const;
  void begin_run(LiveJob& job, TimeNs at);
  /// Marks the run, and those on whose GPUs it is to run beside them.
  void mark_neighbours(LiveRun& run);
  /// Tells the engine to stop the current run, or drops it if the engine knows nothing of it.
  void stop_run(LiveJob& job, StopReason reason);
  /// Launches what waits for its GPUs, where they are free of those who leave.
  void launch_pending(TimeNs at);
  void finish(LiveJob& job, JobResult result, TimeNs at);
  /// The job ends wherever it stands: with `result`, or as `reason` says if it runs.
  void withdraw(LiveJob& job, StopReason reason, JobResult result, TimeNs at);
  /// Jobs that depend on this one may go, or never will.
  void settle_dependents(JobId id, TimeNs at);
  void settle_dependencies(LiveJob& job, TimeNs at);
  /// A job that waits for others is found by them.
  void note_dependent(const LiveJob& job);
  void stop_at_limits(TimeNs at);
  void forget_old(TimeNs at);
  /// Its stage follows from its runs.
  void refresh(LiveJob& job) const;
  [[nodiscard]] LiveRun* current_run(const LiveJob& job);
  [[nodiscard]] bool in_core(JobId job) const { return core->state().is_active(job); }
  /// The core knows the job, and it has no GPUs.
  [[nodiscard]] bool core_has_waiting(JobId id) const;
  [[nodiscard]] LaunchOrder launch_order(const LiveJob& job, const LiveRun& run) const;
  [[nodiscard]] bool gpus_are_left(const LiveRun& run) const;
  /// When the run has used up the job's walltime; kNever = it has no limit.
  [[nodiscard]] TimeNs limit_ns(const LiveJob& job) const;

  const core::model::ReportedProgress& progress;
  Site site;
  std::string configured_scores;  ///< SHA-256 of their table
  std::string measured_scores;    ///< the table that counts instead; empty = none
  base::NameTable models;
  Applications applications;
  JobBook book;
  std::map<uint32_t, size_t> open_jobs;         ///< that are not over, by their owner's number
  std::map<JobId, std::set<JobId>> dependents;  ///< who waits for a job, and maybe more
  std::vector<std::vector<JobId>> to_settle;  ///< dependents whose turn comes, descending; a stack
  ProgressObserver observer;
  std::unique_ptr<core::scheduler::Core> core;
  std::vector<Order> orders;
  std::map<NodeId, std::string> drained;
  std::set<NodeId> down;
  bool caps_power = false;  ///< the policy does
  std::set<GpuId> capped;   ///< GPUs that had a power limit from here
  std::set<JobId> watched;  ///< jobs with a walltime limit that hold GPUs
  TimeNs clock_ns = 0;
  TimeNs next_forget_ns = 0;
  bool forgets = true;
};

/// Pure checks of inputs against the state (input_checks.cpp).
[[nodiscard]] base::Status check_submit(const Submit& submit, const Site& site,
                                        const JobBook& book);
/// `open`: how many jobs of whom are not over; nobody has more than `most` of them (0: any number).
[[nodiscard]] base::Status check_open_jobs(const Submit& submit,
                                           const std::map<uint32_t, size_t>& open, size_t most);
[[nodiscard]] base::Status check_scores(const ScoresMeasured& scores, const Site& site);
[[nodiscard]] base::Status check_job(const JobBook& book, JobId id, const Caller& by);
/// Reservations (reservation_checks.cpp).
[[nodiscard]] base::Status check_reservation_use(const job::JobSpec& spec, const Site& site,
                                                 const JobBook& book);
[[nodiscard]] base::Status check_cancel(const JobBook& book, const CancelReservation& cancel);

/// The line of a decision for the journal: `{"decided":{"at":..,"actions":[..]}}`.
[[nodiscard]] std::string decision_text(const core::scheduler::Decision& decision,
                                        const core::scheduler::Core& core);

/// What such a line says.
struct RecordedDecision {
  TimeNs at_ns = 0;
  std::vector<core::model::Action> actions{};
  std::vector<core::model::Allocation> allocations{};  ///< one a Start
};
/// Errors: BadData naming what is missing or wrong.
[[nodiscard]] base::Result<RecordedDecision> parse_decision(std::string_view text);

}  // namespace goban::live::controller
