// Progress reports of running jobs, and the slowdown by neighbours that follows from them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "live/controller/decision_core.hpp"
#include "live/controller/observer.hpp"

namespace goban::live::controller {

class Observation {
 public:
  /// Both outlive this.
  Observation(const JobBook& book, const DecisionCore& core) : book_(book), core_(core) {}

  /// A run starts, or its neighbours or power limits changed.
  void restarted(JobId job, TimeNs at) { observer_.restarted(job, at); }
  void ended(JobId job) { observer_.ended(job); }
  /// The core requests the speed of the job, by `until` at the latest.
  void watch(JobId job, TimeNs until) { observer_.observe(job, until); }
  /// Takes a progress report of a running job that the core knows.
  void progressed(const LiveJob& job, const ProgressReport& progress, TimeNs at);
  /// Time of a watched running job / its time without neighbours, if enough is known.
  [[nodiscard]] std::optional<double> slowdown_of(JobId job, TimeNs at);
  [[nodiscard]] std::vector<JobId> watched() const { return observer_.watched(); }
  /// Ends the watch of a job that does not run, if its time has passed.
  void give_up(JobId job, TimeNs at) { observer_.give_up(job, at); }
  /// When the first watch ends; kNever = no watch.
  [[nodiscard]] TimeNs next_ns() const { return observer_.next_ns(); }

  /// Seconds of the job's total and remaining work, alone on GPUs with PM score 1 and locality
  /// penalty 1; negative = unknown.
  [[nodiscard]] double total_s(JobId id) const;
  [[nodiscard]] double left_s(JobId job) const;

  /// The fields `observer` and `paces` of snapshots. `apps`: current ids by those of the snapshot.
  void write(nlohmann::json& snapshot) const;
  void read(base::FieldReader& snapshot, std::span<const core::model::AppId> apps);

 private:
  /// It is watched, and a job beside it is being started: nothing shows yet what that does to it.
  [[nodiscard]] bool awaits_neighbours(JobId job, TimeNs at) const;
  /// Seconds per epoch of the job, or of other jobs of its application; negative = unknown.
  [[nodiscard]] double epoch_s(JobId job) const;

  const JobBook& book_;
  const DecisionCore& core_;
  ProgressObserver observer_{};
};

}  // namespace goban::live::controller
