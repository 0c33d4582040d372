// For tests: an engine that says what it is told to, and a small site.
#pragma once

#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "live/loop/commit_cycle.hpp"
#include "live/loop/test_log.hpp"
#include "live/loop/test_site.hpp"

namespace goban::live::loop {

inline const controller::Caller kOperator{.uid = 0, .user = "root", .is_operator = true};

/// Says what it is told to, and remembers its orders.
class ScriptedEngine final : public Engine {
 public:
  void launch(const LaunchOrder& order) override { launches.push_back(order); }
  void stop(RunId run, StopReason reason) override { stops.emplace_back(run, reason); }
  void resume(const LaunchOrder& order) override { resumed.push_back(order); }
  void forget(JobId, const std::string&) override {}
  void recall(const std::vector<KnownJob>& jobs) override { recalled = jobs; }
  void withdraw(JobId, const std::string& engine_id) override { withdrawn.push_back(engine_id); }
  void fence(const std::string& node, TimeNs at_ns) override {
    fenced.push_back(node);
    fenced_ns = at_ns;
  }
  std::vector<EngineEvent> take_events() override { return std::exchange(events, {}); }

  std::vector<EngineEvent> events{};
  std::vector<LaunchOrder> launches{}, resumed{};
  std::vector<std::pair<RunId, StopReason>> stops{};
  std::vector<std::string> withdrawn{}, fenced{};
  TimeNs fenced_ns = -1;  ///< of the last one
  std::vector<KnownJob> recalled{};
};

/// Two nodes of two GPUs.
struct ScriptedWorld {
  void step(std::vector<EngineEvent> events = {}) {
    now += base::kSecond;
    engine.events = std::move(events);
    (void)cycle.run({}, now);
  }
  CommitCycle::Answers ask(controller::Input input) {
    now += base::kSecond;
    return cycle.run({std::move(input)}, now);
  }
  /// Whatever happened, a replay comes to the same state, and so does a snapshot. Returns what is
  /// wrong; empty: nothing.
  std::string replay_problem() {
    CommitCycle again(site, log, engine);
    const auto fold = again.fold(log.safe);
    if (!fold) return fold.error().text();
    if (fold->other > 0) return "a decision differs";
    // A fold forgets no job, so that it does not plan to.
    const auto state_of = [](CommitCycle& each) {
      auto& controller = const_cast<controller::Controller&>(each.controller());
      return std::regex_replace(controller.snapshot(), std::regex(R"("next_forget":\d+)"),
                                R"("next_forget":0)");
    };
    const std::string state = state_of(cycle);
    if (const std::string other = state_of(again); other != state) return state + '\n' + other;
    controller::Controller restored(site);
    if (const auto status = restored.restore(state); !status) return status.error().text();
    const std::string other = restored.snapshot();
    return other == state ? "" : state + '\n' + other;
  }
  const controller::JobBook& book() { return cycle.controller().book(); }
  const controller::LiveJob& job(uint32_t number) { return *book().find(JobId(number)); }
  int32_t free_gpus() { return cycle.controller().core().state().resources().free_gpus(); }
  static JobSeen waiting(std::string id, int32_t gpus = 1) {
    JobSeen seen{.id = std::move(id), .managed = true};
    seen.spec.num_gpus = gpus;
    seen.spec.owner = {.uid = 1000, .gid = 1000, .user = "anna"};
    return seen;
  }
  static JobSeen running(std::string id, std::vector<NodePart> parts, bool managed = false) {
    JobSeen seen = waiting(std::move(id), 0);
    for (const NodePart& part : parts) seen.spec.num_gpus += static_cast<int32_t>(part.gpus.size());
    seen.managed = managed;
    seen.state = SeenState::Running;
    seen.parts = std::move(parts);
    return seen;
  }

  /// Of the present cluster, by name and index.
  GpuId gpu(const std::string& node, uint32_t index) {
    const auto& cluster = cycle.controller().site().cluster;
    return GpuId(cluster.node(*cluster.find_node(node)).first_gpu + index);
  }

  static controller::Site small_cluster() {
    controller::Site out = test_site(2, 2, "easy-backfill");
    out.reservations = {.unit_ns = base::kSecond, .ahead_ns = 0};
    out.fences_nodes = true;
    return out;
  }
  controller::Site site = small_cluster();
  MemoryLog log;
  ScriptedEngine engine;
  CommitCycle cycle{site, log, engine};
  TimeNs now = 1'000 * base::kSecond;
};

}  // namespace goban::live::loop
