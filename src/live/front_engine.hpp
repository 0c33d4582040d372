// An engine in front of another one.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "live/engine.hpp"

namespace goban::live {

/// Passes every call on to the engine behind it. A derived engine overrides what it adds to, and
/// calls the function of this class there. Called by one thread, like every engine.
class FrontEngine : public Engine {
 public:
  void launch(const LaunchOrder& order) override { engine_->launch(order); }
  void stop(RunId run, StopReason reason) override { engine_->stop(run, reason); }
  void hurry(RunId run, StopUrgency urgency) override { engine_->hurry(run, urgency); }
  void resume(const LaunchOrder& order) override { engine_->resume(order); }
  void forget(JobId job, const std::string& payload) override { engine_->forget(job, payload); }
  void suspend(RunId run, bool suspended) override { engine_->suspend(run, suspended); }
  void cap(const GpuPlace& gpu, double watts) override { engine_->cap(gpu, watts); }
  void rest(const std::string& node) override { engine_->rest(node); }
  void wake(const std::string& node) override { engine_->wake(node); }
  void fence(const std::string& node, TimeNs at_ns) override { engine_->fence(node, at_ns); }
  void recall(const std::vector<KnownJob>& known) override { engine_->recall(known); }
  void withdraw(JobId job, const std::string& engine_id) override {
    engine_->withdraw(job, engine_id);
  }
  void stage(const StageOrder& order) override { engine_->stage(order); }
  void beat() override { engine_->beat(); }
  [[nodiscard]] bool is_shut_out() const override { return engine_->is_shut_out(); }
  [[nodiscard]] std::string problem() const override { return engine_->problem(); }
  [[nodiscard]] std::string refusal() const override { return engine_->refusal(); }
  [[nodiscard]] std::vector<EngineEvent> take_events() override { return engine_->take_events(); }

 protected:
  explicit FrontEngine(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

 private:
  std::unique_ptr<Engine> engine_;
};

}  // namespace goban::live
