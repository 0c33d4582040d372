// Runs: the launches of the book that are not over. Decides when a run may be handed to the engine
// and when it has to stop, and gives the orders.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <vector>

#include "base/json_fields.hpp"
#include "core/model/cluster.hpp"
#include "live/controller/job_book.hpp"
#include "live/controller/order.hpp"

namespace goban::live::controller {

class Runs {
 public:
  /// All of these outlive this.
  Runs(JobBook& book, const core::model::Cluster& cluster, std::vector<Order>& orders)
      : book_(book), cluster_(cluster), orders_(orders) {}

  /// The current run of a job: the latest, unless it is over. Null: there is none.
  [[nodiscard]] LiveRun* current(const LiveJob& job);
  [[nodiscard]] LiveRun* find(RunId run);
  /// What the runs of a job say of its stage. `waits`: the core has it in its queue or on GPUs.
  [[nodiscard]] JobStage stage_of(const LiveJob& job, bool waits) const;

  /// The next run of the job, on these GPUs; launch_pending() launches it. `shares`: whether the
  /// policy lets jobs share GPUs.
  void begin(LiveJob& job, const core::model::Allocation& allocation, bool shares, TimeNs at);
  /// Launches the runs whose GPUs are free of those who leave. Returns their jobs.
  std::vector<JobId> launch_pending(TimeNs at);
  /// Forgets the launch that was to come, of which the engine never heard. False: there was none.
  bool drop_pending(LiveJob& job);
  /// Orders the current run to stop, or drops it if the engine knows nothing of it. A stop for good
  /// overrides a preemption that is under way.
  void stop(LiveJob& job, StopReason reason);
  /// The engine says that the run started. Its walltime counts from here.
  void started(LiveJob& job, LiveRun& run, TimeNs at);
  /// A run of the book is over: it moves to the job's past. Returns it as it was.
  LiveRun end(LiveJob& job, RunId id, const Report& report, TimeNs at);

  /// Running jobs that have used up their walltime.
  [[nodiscard]] std::vector<JobId> over_limit(TimeNs at) const;
  /// When the first running job has used up its walltime; kNever = none has a limit.
  [[nodiscard]] TimeNs next_limit_ns() const;
  void forget_limit(JobId job) { limited_.erase(job); }

  /// Runs that the engine was told to launch and that are not over.
  [[nodiscard]] std::vector<LaunchOrder> launched() const;
  /// Orders that the engine has not answered yet.
  [[nodiscard]] std::vector<Order> unanswered() const;

  /// The field `watched` of snapshots.
  void write(nlohmann::json& snapshot) const;
  void read(base::FieldReader& snapshot);

 private:
  [[nodiscard]] LaunchOrder launch_order(const LiveRun& run) const;
  /// No other run of the job is left, and no run on its GPUs is about to stop.
  [[nodiscard]] bool gpus_are_left(const LiveRun& run) const;
  /// Marks the run, and those on whose GPUs it will run beside them.
  void mark_neighbours(LiveRun& run);

  JobBook& book_;
  const core::model::Cluster& cluster_;
  std::vector<Order>& orders_;
  std::set<JobId> limited_;  ///< jobs with a walltime limit whose current run started
};

/// When the current run has used up the job's walltime; kNever = it has no limit.
[[nodiscard]] TimeNs walltime_end_ns(const LiveJob& job);

}  // namespace goban::live::controller
