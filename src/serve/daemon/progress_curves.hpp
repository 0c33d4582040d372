// What jobs reported as their progress over time, since this daemon started: the loss curve of a
// job. In memory; jobs that the scheduler no longer has are forgotten.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "live/loop/live_scheduler.hpp"
#include "serve/api/daemon_parts.hpp"

namespace goban::serve::daemon {

/// At most `kMost` points: each time it is full, every second one is dropped, and from then on half
/// as many are taken.
class ProgressCurve {
 public:
  static constexpr size_t kMost = 400;
  /// Reports that say nothing new, or come too soon after the last one, are ignored.
  void add(const api::ProgressPoint& point);
  [[nodiscard]] const std::vector<api::ProgressPoint>& points() const { return points_; }

 private:
  std::vector<api::ProgressPoint> points_{};
  double gap_s_ = 0;
};

/// Looks at the jobs in a thread until it is destroyed.
class ProgressCurves final : public api::ProgressHistory {
 public:
  /// `scheduler` outlives this object. `every_ns` is positive.
  explicit ProgressCurves(const live::loop::SchedulerClient& scheduler,
                          base::TimeNs every_ns = base::kSecond);
  ~ProgressCurves() override;
  ProgressCurves(const ProgressCurves&) = delete;
  ProgressCurves& operator=(const ProgressCurves&) = delete;

  [[nodiscard]] std::vector<api::ProgressPoint> of(core::model::JobId job) const override;
  /// One look; the thread does it by itself.
  void look();

 private:
  void work();

  const live::loop::SchedulerClient& scheduler_;
  base::TimeNs every_ns_;
  mutable std::mutex mutex_{};
  std::condition_variable wake_{};
  std::map<core::model::JobId, ProgressCurve> curves_{};
  bool ending_ = false;
  std::thread thread_{};
};

}  // namespace goban::serve::daemon
