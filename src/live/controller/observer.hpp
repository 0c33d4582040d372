// How fast jobs go, from what they say of their progress, or else from how busy they keep their
// GPUs: seconds of an epoch alone, and how much neighbours slow them.
#pragma once

#include <compare>
#include <map>
#include <optional>

#include "live/engine.hpp"

namespace goban::live::controller {

/// What a job's work is counted in. Who says no epochs is measured by what he gets of his GPUs:
/// his minutes of a GPU that he keeps busy all the time stand for epochs.
enum class PaceUnit : uint8_t { Epochs, BusyMinutes };

/// Jobs of the same application on as many GPUs are as fast alone as each other.
struct PaceKey {
  core::model::AppId app{};
  int32_t num_gpus = 0;
  PaceUnit unit = PaceUnit::Epochs;
  friend auto operator<=>(const PaceKey&, const PaceKey&) = default;
};

/// Where a running job stands.
struct Standing {
  core::model::AppId app{};  ///< invalid: nobody knows it
  int32_t num_gpus = 0;
  double slowdown = 1;  ///< of its GPUs without neighbours, by their scores and places
  bool alone = true;    ///< it has no neighbours now, and its GPUs no power limit
};

/// All epochs are fractions: 3.25 = a quarter of the fourth is done. Deterministic.
class ProgressObserver {
 public:
  /// A run begins, or has other neighbours from now on: what it said before counts no more.
  void restarted(JobId job, TimeNs now);
  /// The progress of a job. Once it has said epochs, how busy it is says nothing.
  void progressed(JobId job, const ProgressReport& progress, const Standing& standing, TimeNs now);
  void ended(JobId job) { jobs_.erase(job); }

  /// Seconds of an epoch at PM score 1, penalty 1, without neighbours; negative = not known.
  [[nodiscard]] double epoch_s(JobId job) const;
  [[nodiscard]] double epochs_done(JobId job) const;

  /// Watch the job until it has done an epoch from here, or `until`.
  void observe(JobId job, TimeNs until);
  /// The watch of a job that does not run ends without a word when its time is over.
  void give_up(JobId job, TimeNs now);
  /// If the watch is over and enough is known: time of an epoch / the same without neighbours. A
  /// job that never ran alone is compared with others of its application.
  [[nodiscard]] std::optional<double> observed(JobId job, const Standing& standing, TimeNs now);
  /// When the first watch ends; kNever = none is on.
  [[nodiscard]] TimeNs next_ns() const;
  [[nodiscard]] std::vector<JobId> watched() const;

  struct Track {
    PaceUnit unit = PaceUnit::Epochs;
    double epochs = -1;       ///< last said
    TimeNs at_ns = 0;         ///< when
    double base_epochs = -1;  ///< first said of this stretch; negative = nothing yet
    TimeNs base_ns = 0;
    double alone_epoch_s = -1;
    TimeNs until_ns = -1;  ///< of the watch; -1 = none
    friend bool operator==(const Track&, const Track&) = default;
  };
  [[nodiscard]] const std::map<JobId, Track>& tracks() const { return jobs_; }
  void put(JobId job, const Track& track) { jobs_[job] = track; }
  /// Seconds of an epoch alone, of the job of each kind that was seen last.
  [[nodiscard]] const std::map<PaceKey, double>& paces() const { return paces_; }
  void put(const PaceKey& key, double epoch_s) { paces_[key] = epoch_s; }

 private:
  std::map<JobId, Track> jobs_;
  std::map<PaceKey, double> paces_;
};

}  // namespace goban::live::controller
