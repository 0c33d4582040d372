// A GPU is measured only while no job has it. The scheduler knows nothing of it: a job that is
// launched onto a GPU that is being measured ends the measurement, and is handed to the engine as
// soon as that is gone, some hundredths of a second later.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "live/engine.hpp"

namespace goban::serve::daemon {

/// Between whoever measures, one GPU at a time, and the engine. Threads: any.
class MeasuringGate {
 public:
  /// From now on launches onto this GPU wait. Whoever held it before shows in the book already, so
  /// look there after this and before the first block. False: the daemon ends.
  [[nodiscard]] bool begin(core::model::GpuId gpu);
  /// No process of ours is on it any more.
  void end();
  /// The measurement is to end at once: a job wants its GPU, or the daemon ends.
  [[nodiscard]] const std::atomic<bool>& interrupted() const { return interrupted_; }
  /// For good.
  void close();
  /// One of these is being measured; that is interrupted then.
  [[nodiscard]] bool must_wait(const std::vector<core::model::GpuId>& gpus);

 private:
  std::mutex mutex_{};
  std::optional<core::model::GpuId> gpu_{};
  bool closed_ = false;
  std::atomic<bool> interrupted_ = false;
};

/// The engine behind the gate. Called by one thread, as every engine.
class GatedEngine final : public live::Engine {
 public:
  GatedEngine(std::unique_ptr<live::Engine> engine, std::shared_ptr<MeasuringGate> gate)
      : engine_(std::move(engine)), gate_(std::move(gate)) {}

  void launch(const live::LaunchOrder& order) override;
  void stop(live::RunId run, live::StopReason reason) override;
  void resume(const live::LaunchOrder& order) override;
  void forget(core::model::JobId job, const std::string& payload) override;
  void cap(core::model::GpuId gpu, double watts) override { engine_->cap(gpu, watts); }
  void rest(core::model::NodeId node) override { engine_->rest(node); }
  void wake(core::model::NodeId node) override { engine_->wake(node); }
  [[nodiscard]] std::vector<live::Report> take_reports() override;

 private:
  std::unique_ptr<live::Engine> engine_;
  std::shared_ptr<MeasuringGate> gate_;
  std::map<live::RunId, live::LaunchOrder> waiting_{};
};

}  // namespace goban::serve::daemon
