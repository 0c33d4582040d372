// Periodic readings of the machine's GPUs, taken in a thread of its own: for the API, for /metrics,
// and for a series store, which `goban analyze --gpu` reads.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "live/engine.hpp"
#include "serve/api/api.hpp"

namespace goban::serve::daemon {

using base::gpus::GpuReading;

struct GpuWatcherOptions {
  base::TimeNs every_ns = base::kSecond;
  base::TimeNs keep_every_ns = 10 * base::kSecond;    ///< step of the samples in the store
  base::TimeNs write_every_ns = 300 * base::kSecond;  ///< a crash loses at most this period
  std::string series{};                               ///< folder of the series store; empty = none
  std::function<base::TimeNs()> wall_clock{};         ///< empty: the system's
  std::function<void(const std::string&)> say{};      ///< logs problems of the store, once each
  std::function<bool()> may_write{};                  ///< called before each write; empty: always
};

/// Reads GPUs until it is destroyed; then it writes the remaining samples.
class GpuWatcher final : public api::GpuMonitor {
 public:
  /// `view` reads the GPUs; `scheduler` provides the runs that hold them. Both outlive this object.
  GpuWatcher(live::EngineView& view, const live::loop::SchedulerClient& scheduler,
             GpuWatcherOptions options);
  ~GpuWatcher() override;
  GpuWatcher(const GpuWatcher&) = delete;
  GpuWatcher& operator=(const GpuWatcher&) = delete;

  /// The last readings, by GPU. Thread-safe.
  [[nodiscard]] api::GpuReadings latest() const override;
  /// Readings in a window, from the store and from samples not yet written; without a store, from
  /// the last hour only. Thread-safe. Errors: those of the store.
  [[nodiscard]] base::Result<api::GpuCurves> curves(const api::GpuWindow& window) const override;

 private:
  /// The next sample of one GPU for the store: means of utilisation and power since the last one.
  struct Sum {
    double util_pct = 0, power_w = 0;
    int64_t num_util = 0, num_power = 0;
    GpuReading last{};
  };
  struct Sample {
    int64_t time_ms = 0;
    std::vector<GpuReading> gpus{};
  };

  void work();
  void look();
  void keep(base::TimeNs now_ns);
  void write();
  [[nodiscard]] base::Status write_samples();
  [[nodiscard]] base::TimeNs now_ns() const;

  live::EngineView& view_;
  const live::loop::SchedulerClient& scheduler_;
  GpuWatcherOptions options_;
  std::vector<Sum> sums_{};
  base::TimeNs next_keep_ns_ = 0;
  base::TimeNs next_write_ns_ = 0;
  std::string said_{};

  mutable std::mutex mutex_{};
  std::condition_variable wake_{};
  api::GpuReadings latest_{};
  std::vector<Sample> samples_{};  ///< not yet written; only the thread changes them
  bool ending_ = false;
  std::thread thread_{};
};

}  // namespace goban::serve::daemon
