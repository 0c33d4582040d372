// An engine that copies, in front of one that runs jobs.
#pragma once

#include <memory>

#include "live/front_engine.hpp"
#include "live/staging/stager.hpp"

namespace goban::live::staging {

class StagingEngine final : public FrontEngine {
 public:
  StagingEngine(std::unique_ptr<Engine> engine, StagerOptions options)
      : FrontEngine(std::move(engine)), stager_(std::move(options)) {}

  void stage(const StageOrder& order) override { stager_.order(order); }
  std::vector<EngineEvent> take_events() override {
    std::vector<EngineEvent> events = FrontEngine::take_events();
    for (StageReport& report : stager_.take()) events.emplace_back(std::move(report));
    return events;
  }

 private:
  Stager stager_;
};

}  // namespace goban::live::staging
