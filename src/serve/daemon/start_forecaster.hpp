// Forecasts when waiting jobs will start, in a thread of its own: the scheduler waits only while
// its state is copied.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <sys/types.h>
#include <thread>
#include <vector>

#include "core/knowledge/durations/start_calibration.hpp"
#include "live/loop/live_scheduler.hpp"
#include "serve/api/daemon_parts.hpp"

namespace goban::serve::daemon {

/// Forecasts from copies of a scheduler's state, and how they held. Not thread-safe.
class StartForecasts {
 public:
  /// Copies the state of the scheduler and looks ahead. `ends`: true ends it early. The table is
  /// empty then, or if no job waits.
  [[nodiscard]] api::StartTable forecast(const live::loop::SchedulerClient& scheduler,
                                         const std::atomic<bool>& ends);

 private:
  /// Of a job that waits for its first start.
  struct Tracked {
    core::knowledge::StartForecastAt raw{};
    core::model::StartInterval shown{};
  };
  /// Forecasts of jobs that still wait, the latest first.
  [[nodiscard]] std::vector<core::knowledge::StartForecastAt> waiting() const;
  void learn_starts(const live::controller::JobBook& book);

  std::map<core::model::JobId, Tracked> tracked_;
  core::knowledge::StartCalibration calibration_;
  int64_t known_ = 0;
  int64_t inside_ = 0;
};

class StartForecaster final : public api::StartTimes {
 public:
  /// `scheduler` outlives this.
  explicit StartForecaster(const live::loop::SchedulerClient& scheduler);
  ~StartForecaster() override;
  StartForecaster(const StartForecaster&) = delete;
  StartForecaster& operator=(const StartForecaster&) = delete;

  std::shared_ptr<const api::StartTable> latest() const override;

 private:
  void work();

  const live::loop::SchedulerClient& scheduler_;
  mutable std::mutex mutex_;
  std::shared_ptr<const api::StartTable> latest_ = std::make_shared<api::StartTable>();
  std::atomic<bool> ends_ = false;
  std::atomic<id_t> thread_id_ = 0;
  std::thread thread_;
};

}  // namespace goban::serve::daemon
