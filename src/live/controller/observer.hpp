// Speed of jobs, from their progress reports, or otherwise from how busy they keep their GPUs:
// seconds per epoch alone, and slowdown by neighbours.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>

#include "live/engine.hpp"

namespace goban::live::controller {

/// Unit of a job's work. For a job that reports no epochs, a minute of GPU busy time stands for an
/// epoch.
enum class PaceUnit : uint8_t { Epochs, BusyMinutes };

/// Jobs of the same application on the same number of GPUs have the same speed alone.
struct PaceKey {
  core::model::AppId app{};
  int32_t num_gpus = 0;
  PaceUnit unit = PaceUnit::Epochs;
  friend auto operator<=>(const PaceKey&, const PaceKey&) = default;
};

/// The conditions under which a running job runs.
struct Standing {
  core::model::AppId app{};  ///< invalid: unknown
  int32_t num_gpus = 0;
  double slowdown = 1;  ///< of its GPUs without neighbours: PM score x locality penalty
  bool alone = true;    ///< it has no neighbours now, and its GPUs have no power limit
};

/// All epochs are fractions: 3.25 = a quarter of the fourth is done. Deterministic.
class ProgressObserver {
 public:
  /// A run starts, or its neighbours changed: earlier progress is no longer used.
  void restarted(JobId job, TimeNs now);
  /// Takes the progress of a job. Once it has reported epochs, its busy time is ignored.
  void progressed(JobId job, const ProgressReport& progress, const Standing& standing, TimeNs now);
  void ended(JobId job);

  /// Seconds per epoch at PM score 1, penalty 1, without neighbours; negative = unknown.
  [[nodiscard]] double epoch_s(JobId job) const;
  [[nodiscard]] double epochs_done(JobId job) const;

  /// Watches the job until it has done an epoch from now on, or until `until`.
  void observe(JobId job, TimeNs until);
  /// Ends the watch of a job that does not run, without a result, if its time has passed.
  void give_up(JobId job, TimeNs now);
  /// Time per epoch / the same without neighbours, if the watch has ended and enough is known. A
  /// job that never ran alone is compared with other jobs of its application.
  [[nodiscard]] std::optional<double> observed(JobId job, const Standing& standing, TimeNs now);
  /// When the first watch ends; kNever = no watch.
  [[nodiscard]] TimeNs next_ns() const;
  [[nodiscard]] std::vector<JobId> watched() const { return {watched_.begin(), watched_.end()}; }

  struct Track {
    PaceUnit unit = PaceUnit::Epochs;
    double epochs = -1;       ///< last reported
    TimeNs at_ns = 0;         ///< time of that report
    double base_epochs = -1;  ///< first reported since restarted(); negative = none yet
    TimeNs base_ns = 0;
    double alone_epoch_s = -1;
    TimeNs until_ns = -1;  ///< of the watch; -1 = none
    friend bool operator==(const Track&, const Track&) = default;
  };
  [[nodiscard]] const std::map<JobId, Track>& tracks() const { return jobs_; }
  void put(JobId job, const Track& track);
  /// Seconds per epoch alone, by the latest job of each key.
  [[nodiscard]] const std::map<PaceKey, double>& paces() const { return paces_; }
  void put(const PaceKey& key, double epoch_s) { paces_[key] = epoch_s; }

 private:
  std::map<JobId, Track> jobs_;
  std::set<JobId> watched_;  ///< those with a watch
  std::map<PaceKey, double> paces_;
};

}  // namespace goban::live::controller
