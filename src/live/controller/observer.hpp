// How fast jobs go, from what they say of their progress: seconds of an epoch alone, and how much
// neighbours slow them.
#pragma once

#include <map>
#include <optional>

#include "live/engine.hpp"

namespace goban::live {

/// All epochs are fractions: 3.25 = a quarter of the fourth is done. Deterministic.
class ProgressObserver {
 public:
  /// A run begins, or has other neighbours from now on: what it said before counts no more.
  void restarted(JobId job, TimeNs now);
  /// It stands at this many epochs. `slowdown`: of its GPUs without neighbours; `alone`: it has no
  /// neighbours now.
  void progressed(JobId job, double epochs, double slowdown, bool alone, TimeNs now);
  void ended(JobId job) { jobs_.erase(job); }

  /// Seconds of an epoch at PM score 1, penalty 1, without neighbours; negative = not known.
  [[nodiscard]] double epoch_s(JobId job) const;
  [[nodiscard]] double epochs_done(JobId job) const;

  /// Watch the job until it has done an epoch from here, or `until`.
  void observe(JobId job, TimeNs until);
  /// If the watch is over and enough is known: time of an epoch / the same without neighbours.
  [[nodiscard]] std::optional<double> observed(JobId job, double slowdown, TimeNs now);
  /// When the first watch ends; kNever = none is on.
  [[nodiscard]] TimeNs next_ns() const;
  [[nodiscard]] std::vector<JobId> watched() const;

  struct Track {
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

 private:
  std::map<JobId, Track> jobs_;
};

}  // namespace goban::live
