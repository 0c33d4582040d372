// What running jobs report of their progress, and what it says of their speed beside neighbours.
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

  /// A run begins, or has other neighbours or power limits from now on.
  void restarted(JobId job, TimeNs at) { observer_.restarted(job, at); }
  void ended(JobId job) { observer_.ended(job); }
  /// The core wants to know how fast the job goes, by `until` at the latest.
  void watch(JobId job, TimeNs until) { observer_.observe(job, until); }
  /// A running job that the core knows reported its progress.
  void progressed(const LiveJob& job, const ProgressReport& progress, TimeNs at);
  /// If enough is known of a watched job that runs: its time / the same without neighbours.
  [[nodiscard]] std::optional<double> slowdown_of(JobId job, TimeNs at);
  [[nodiscard]] std::vector<JobId> watched() const { return observer_.watched(); }
  /// The watch of a job that does not run ends when its time is over.
  void give_up(JobId job, TimeNs at) { observer_.give_up(job, at); }
  /// When the first watch ends; kNever = there is none.
  [[nodiscard]] TimeNs next_ns() const { return observer_.next_ns(); }

  /// Seconds of all the job's work, and of what is left of it, on GPUs of its own at PM score 1 and
  /// penalty 1; negative = not known.
  [[nodiscard]] double total_s(JobId job) const;
  [[nodiscard]] double left_s(JobId job) const;

  /// The fields `observer` and `paces` of snapshots. `apps`: what their numbers are now.
  void write(nlohmann::json& snapshot) const;
  void read(base::FieldReader& snapshot, std::span<const core::model::AppId> apps);

 private:
  /// Of the job itself, or of others of its application; negative = not known.
  [[nodiscard]] double epoch_s(JobId job) const;

  const JobBook& book_;
  const DecisionCore& core_;
  ProgressObserver observer_{};
};

}  // namespace goban::live::controller
