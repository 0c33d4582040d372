// For tests of pilots: a daemon on a simulated engine, and its journal folded again. Include
// GoogleTest before this header.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "live/controller/pilots.hpp"
#include "live/loop/test_log.hpp"
#include "live/loop/test_site.hpp"
#include "live/loop/test_world.hpp"

namespace goban::live::loop {

inline const controller::Caller kPilotOperator{.uid = 0, .user = "root", .is_operator = true};
inline constexpr const char* kConfigured = "easy-backfill+packed";

/// A daemon with two nodes of four GPUs, if no other site is given.
struct PilotWorld {
  explicit PilotWorld(controller::Site of = test_site(2, 4, kConfigured)) : site(std::move(of)) {
    cycle = std::make_unique<CommitCycle>(site, log, engine);
  }
  std::vector<base::Result<Answer>> turn(std::vector<controller::Input> inputs = {}) {
    engine.advance(now);
    return cycle->run(std::move(inputs), now);
  }
  base::Status ask(controller::Input input) {
    auto answers = turn({std::move(input)});
    return answers.front() ? base::Status{} : base::failure(answers.front().error());
  }
  /// A job of a GPU that is submitted now.
  void submit(TimeNs takes_ns, int32_t exit_code = 0) {
    submit(job::JobSpec{.name = "a", .num_gpus = 1}, takes_ns, exit_code);
  }
  core::model::JobId submit(job::JobSpec spec, TimeNs takes_ns, int32_t exit_code = 0) {
    const core::model::JobId job = cycle->controller().next_job();
    engine.fates[job] = {.takes_ns = takes_ns, .exit_code = exit_code};
    EXPECT_TRUE(ask(controller::Submit{.jobs = {std::move(spec)}}));
    return job;
  }
  void pass(TimeNs span_ns, TimeNs step_ns = base::kMinute) {
    for (const TimeNs end_ns = now + span_ns; now < end_ns;) {
      now += std::min(step_ns, end_ns - now);
      turn();
    }
  }
  [[nodiscard]] const controller::LivePilot& pilot() const {
    return *cycle->controller().book().pilot;
  }
  [[nodiscard]] const std::string& policy() const {
    return cycle->controller().core().policies().name;
  }

  controller::Site site;
  core::model::Cluster cluster = site.cluster;
  FaultyEngine engine{cluster, 1};
  MemoryLog log;
  std::unique_ptr<CommitCycle> cycle;
  TimeNs now = 1'700'000'000 * base::kSecond;
};

inline core::pilot::Plan short_plan() {
  return {.policy_a = kConfigured,
          .policy_b = "las+packed",
          .period_ns = base::kHour,
          .settle_ns = 10 * base::kMinute,
          .pairs = 3,
          .seed = 5};
}

inline controller::StartPilot start_of(core::pilot::Plan plan = short_plan()) {
  return {.plan = std::move(plan), .by = kPilotOperator};
}

/// The world's journal, folded by a daemon with this configuration.
struct Refolded {
  Refolded(const PilotWorld& world, const char* policy)
      : Refolded(world, test_site(2, 4, policy)) {}
  Refolded(const PilotWorld& world, controller::Site of) : site(std::move(of)) {
    cycle = std::make_unique<CommitCycle>(site, log, engine);
    fold = cycle->fold(world.log.safe);
  }
  controller::Site site;
  core::model::Cluster cluster = site.cluster;
  FaultyEngine engine{cluster, 1};
  MemoryLog log;
  std::unique_ptr<CommitCycle> cycle;
  base::Result<CommitCycle::Fold> fold{};
};

}  // namespace goban::live::loop
