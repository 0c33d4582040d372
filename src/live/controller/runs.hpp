// Runs: launches that have not ended. Decides when a run may be ordered from the engine and when it
// has to stop, and issues the orders.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <vector>

#include "base/json_fields.hpp"
#include "core/model/cluster.hpp"
#include "live/controller/input.hpp"
#include "live/controller/job_book.hpp"

namespace goban::live::controller {

class Staging;

class Runs {
 public:
  /// All of these outlive this. `staging` knows where the data of jobs is; null: nowhere.
  Runs(JobBook& book, const core::model::Cluster& cluster, std::vector<Order>& orders,
       Staging* staging = nullptr)
      : book_(book), cluster_(&cluster), orders_(orders), staging_(staging) {}
  /// The cluster became another one; the book has its numbers.
  void use(const core::model::Cluster& cluster) { cluster_ = &cluster; }

  /// The latest run of a job; null if it has ended.
  [[nodiscard]] LiveRun* current(const LiveJob& job);
  [[nodiscard]] LiveRun* find(RunId run);
  /// The stage of a job according to its runs. `waits`: the core has it in its queue or on GPUs.
  [[nodiscard]] JobStage stage_of(const LiveJob& job, bool waits) const;

  /// Creates the next run of the job, on these GPUs; launch_pending() launches it. `shares`:
  /// whether the policy lets jobs share GPUs.
  void begin(LiveJob& job, const core::model::Allocation& allocation, bool shares, TimeNs at);
  /// Launches the runs whose GPUs have been left by stopping runs, and whose data was seen on the
  /// fast tier. Returns their jobs.
  std::vector<JobId> launch_pending(TimeNs at);
  /// Drops the pending launch, which was never ordered: the job has the GPUs of the run before it
  /// again. False: there was none.
  bool drop_pending(LiveJob& job);
  /// Orders the current run to stop, or drops it if it was never ordered. A final stop overrides a
  /// preemption in progress.
  void stop(LiveJob& job, StopReason reason, TimeNs at);
  /// Suspends the current run, if it runs, or lets it go on.
  void suspend(const LiveJob& job, bool suspended, TimeNs at);
  /// Skips steps of the stop of the current run, if it is stopping.
  void hurry(const LiveJob& job, StopUrgency urgency);
  /// The engine reported the start. The walltime limit counts from here, unless the engine counts
  /// it itself (`is_limited`).
  void started(LiveJob& job, LiveRun& run, bool is_limited, TimeNs at);
  /// Moves an ended run to the job's past. Returns it as it was.
  LiveRun end(LiveJob& job, RunId id, const Report& report, TimeNs at);

  /// Removes a run that the machine could not start. Returns it as it was.
  LiveRun never_began(LiveJob& job, RunId id);

  /// Running jobs that have reached their walltime limit.
  [[nodiscard]] std::vector<JobId> over_limit(TimeNs at) const;
  /// When the first running job reaches its walltime limit; kNever = none has one.
  [[nodiscard]] TimeNs next_limit_ns() const;
  void forget_limit(JobId job) { limited_.erase(job); }

  /// A run on GPUs of the node was ordered to stop and has not ended.
  [[nodiscard]] bool is_leaving(NodeId node) const;
  /// The order that stands for a run.
  [[nodiscard]] LaunchOrder launch_order(const LiveRun& run) const;

  /// Launched runs that have not ended.
  [[nodiscard]] std::vector<LaunchOrder> launched() const;
  /// Orders that the engine has not answered yet.
  [[nodiscard]] std::vector<Order> unanswered() const;

  /// The field `watched` of snapshots.
  void write(nlohmann::json& snapshot) const;
  void read(base::FieldReader& snapshot);

 private:
  /// A run of the job was ordered and has not ended.
  [[nodiscard]] bool has_launched(JobId job) const;
  /// Marks the run and its co-runners as shared.
  void mark_neighbours(LiveRun& run);

  JobBook& book_;
  const core::model::Cluster* cluster_;
  std::vector<Order>& orders_;
  Staging* staging_;
  /// Jobs whose current run started and has a walltime limit that the engine does not count.
  std::set<JobId> limited_;
};

/// When the current run reaches the job's walltime limit, unless it is suspended; kNever = no
/// limit.
[[nodiscard]] TimeNs walltime_end_ns(const LiveJob& job);

}  // namespace goban::live::controller
