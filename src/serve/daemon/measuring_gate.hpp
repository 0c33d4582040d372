// A GPU is measured only while no job holds it. The scheduler does not take measurements into
// account: launching a job on a GPU that is being measured interrupts the measurement, and the
// launch is passed to the engine when the measurement has ended, within some 10 ms.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "live/front_engine.hpp"

namespace goban::serve::daemon {

/// Synchronises measurements, one GPU at a time, with launches of the engine. Thread-safe.
class MeasuringGate {
 public:
  /// From now on launches on this GPU wait. A job that got it earlier is already in the job table:
  /// check there after this call and before the first block. Returns false if the daemon is ending.
  [[nodiscard]] bool begin(core::model::GpuId gpu);
  /// No measuring process uses the GPU any more.
  void end();
  /// The measurement must end at once: a job is to run on its GPU, or the daemon is ending.
  [[nodiscard]] const std::atomic<bool>& interrupted() const { return interrupted_; }
  /// Interrupts the measurement and refuses further ones.
  void close();
  /// Whether one of these GPUs is being measured; if so, the measurement is interrupted.
  [[nodiscard]] bool must_wait(const std::vector<core::model::GpuId>& gpus);

 private:
  std::mutex mutex_{};
  std::optional<core::model::GpuId> gpu_{};
  bool closed_ = false;
  std::atomic<bool> interrupted_ = false;
};

/// The gate in front of an engine.
class GatedEngine final : public live::FrontEngine {
 public:
  /// `forgotten` is called with each payload that the engine was told to remove.
  GatedEngine(std::unique_ptr<live::Engine> engine, std::shared_ptr<MeasuringGate> gate,
              std::function<void(const std::string&)> forgotten = {})
      : FrontEngine(std::move(engine)), gate_(std::move(gate)), forgotten_(std::move(forgotten)) {}

  void launch(const live::LaunchOrder& order) override;
  void stop(live::RunId run, live::StopReason reason) override;
  void resume(const live::LaunchOrder& order) override;
  void forget(core::model::JobId job, const std::string& payload) override;
  [[nodiscard]] std::vector<live::EngineEvent> take_events() override;

 private:
  std::shared_ptr<MeasuringGate> gate_;
  std::function<void(const std::string&)> forgotten_;
  std::map<live::RunId, live::LaunchOrder> waiting_{};
};

}  // namespace goban::serve::daemon
