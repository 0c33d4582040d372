// An engine that copies, in front of one that runs jobs.
#pragma once

#include <memory>

#include "live/engine.hpp"
#include "live/staging/stager.hpp"

namespace goban::live::staging {

/// Called by one thread, like every engine.
class StagingEngine final : public Engine {
 public:
  StagingEngine(std::unique_ptr<Engine> engine, StagerOptions options)
      : engine_(std::move(engine)), stager_(std::move(options)) {}

  void stage(const StageOrder& order) override { stager_.order(order); }
  std::vector<EngineEvent> take_events() override {
    std::vector<EngineEvent> events = engine_->take_events();
    for (StageReport& report : stager_.take()) events.emplace_back(std::move(report));
    return events;
  }

  void launch(const LaunchOrder& order) override { engine_->launch(order); }
  void stop(RunId run, StopReason reason) override { engine_->stop(run, reason); }
  void hurry(RunId run, StopUrgency urgency) override { engine_->hurry(run, urgency); }
  void resume(const LaunchOrder& order) override { engine_->resume(order); }
  void forget(core::model::JobId job, const std::string& payload) override {
    engine_->forget(job, payload);
  }
  void suspend(RunId run, bool suspended) override { engine_->suspend(run, suspended); }
  void cap(const GpuPlace& gpu, double watts) override { engine_->cap(gpu, watts); }
  void rest(const std::string& node) override { engine_->rest(node); }
  void wake(const std::string& node) override { engine_->wake(node); }
  void fence(const std::string& node) override { engine_->fence(node); }
  void recall(const std::vector<KnownJob>& known) override { engine_->recall(known); }
  void withdraw(core::model::JobId job, const std::string& engine_id) override {
    engine_->withdraw(job, engine_id);
  }
  void beat() override { engine_->beat(); }
  bool is_shut_out() const override { return engine_->is_shut_out(); }

 private:
  std::unique_ptr<Engine> engine_;
  Stager stager_;
};

}  // namespace goban::live::staging
