// For tests: the engine between a simulated cluster and the daemon. Orders arrive late, twice or
// never; the engine forgets, and lists everything again.
#pragma once

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "live/loop/test_cluster.hpp"

namespace goban::live::loop {

/// The part of the engine that lives in a daemon: a picture of the cluster, and what was told.
class ClusterEngine final : public Engine {
 public:
  /// Messages that are under way outlive a daemon.
  struct Wire {
    std::deque<std::pair<TimeNs, std::function<void()>>> orders{};
    std::map<RunId, Report> answers{};  ///< runs that were launched and never ran, and why
    double loss = 0;
    double strange = 0;  ///< share of launches that get other GPUs than ordered
  };

  ClusterEngine(TestCluster& cluster, Wire& wire, uint64_t seed)
      : cluster_(cluster), wire_(wire), random_(seed) {}

  void launch(const LaunchOrder& order) override {
    send([cluster = &cluster_, wire = &wire_, order, other = random_.uniform()] {
      start(*cluster, *wire, order, other < wire->strange);
    });
    asked_.insert(order.run);
  }
  void stop(RunId run, StopReason reason) override {
    send([cluster = &cluster_, wire = &wire_, run, reason] {
      const auto job = std::ranges::find_if(
          cluster->jobs, [&](const auto& each) { return each.second.run == run; });
      if (job == cluster->jobs.end()) {
        if (cluster->over.contains(run)) return;
        wire->answers.try_emplace(run, Report{.kind = ReportKind::Lost, .run = run});
        return;
      }
      const bool goes_on = reason == StopReason::Preempted || reason == StopReason::Broken;
      if (goes_on) return cluster->requeue(job->first);
      cluster->end(job->first, GoneHow::Cancelled);
    });
    asked_.insert(run);
  }
  void resume(const LaunchOrder& order) override {
    asked_.insert(order.run);
    const auto job = cluster_.jobs.find(order.engine_id);
    const bool is_known = cluster_.over.contains(order.run) || wire_.answers.contains(order.run);
    if (is_known || (job != cluster_.jobs.end() && job->second.run == order.run)) return;
    if (job != cluster_.jobs.end() && job->second.running && !job->second.run.job.valid()) {
      job->second.run = order.run;  // adopted
      return;
    }
    wire_.answers.try_emplace(order.run, Report{.kind = ReportKind::Lost, .run = order.run});
  }
  void forget(JobId, const std::string&) override {}
  void recall(const std::vector<KnownJob>& known) override {
    told_.clear();
    for (const KnownJob& job : known) told_[job.engine_id] = std::nullopt;
  }
  void withdraw(JobId, const std::string& id) override {
    send([cluster = &cluster_, id] {
      if (cluster->jobs.contains(id)) cluster->end(id, GoneHow::Cancelled);
    });
  }
  std::vector<EngineEvent> take_events() override {
    std::vector<EngineEvent> out;
    const ClusterSeen nodes = cluster_.seen_nodes();
    if (told_nodes_ != nodes) out.emplace_back(told_nodes_ = nodes);
    for (auto run = asked_.begin(); run != asked_.end();) {
      const Report* answer = answer_of(*run);
      if (answer == nullptr) {
        ++run;
        continue;
      }
      out.emplace_back(*answer);
      if (random_.below(8) == 0) out.emplace_back(*answer);
      run = asked_.erase(run);
    }
    for (auto told = told_.begin(); told != told_.end();) {
      const auto each = told++;
      if (cluster_.jobs.contains(each->first)) continue;
      const auto how = cluster_.gone.find(each->first);
      out.emplace_back(JobGone{.id = each->first,
                               .how = how == cluster_.gone.end() ? GoneHow::Unknown : how->second});
      told_.erase(each);
    }
    for (const auto& [id, job] : cluster_.jobs) {
      JobSeen seen = TestCluster::seen_job(id, job);
      const auto told = told_.find(id);
      if (told == told_.end() && !seen.managed && !job.running) continue;
      const std::string text = text_of(seen);
      if (told != told_.end() && told->second == text) continue;
      told_[id] = text;
      if (seen.run.job.valid()) {
        Report started{.kind = ReportKind::Started, .run = seen.run, .parts = seen.parts};
        started.limited = true;
        out.emplace_back(std::move(started));
        asked_.insert(seen.run);
      }
      out.emplace_back(std::move(seen));
    }
    return out;
  }

  void advance(TimeNs now) {
    now_ = now;
    while (!wire_.orders.empty() && wire_.orders.front().first <= now_) {
      const auto message = std::move(wire_.orders.front().second);
      wire_.orders.pop_front();
      message();
    }
  }
  /// Everything is listed again.
  void relist() {
    for (auto& [id, told] : told_) told.reset();
    told_nodes_ = {};
  }

 private:
  static std::string text_of(const JobSeen& seen) {
    std::string out = fmt::format("{} {} {} {} {}", seen.managed, int(seen.state), seen.spec.held,
                                  seen.run.job.value, seen.run.run);
    for (const NodePart& part : seen.parts) {
      out += part.node;
      for (const int32_t gpu : part.gpus) out += fmt::format(" {}", gpu);
    }
    return out;
  }
  static void start(TestCluster& cluster, Wire& wire, const LaunchOrder& order, bool other) {
    const auto job = cluster.jobs.find(order.engine_id);
    const bool was_here = cluster.over.contains(order.run) || wire.answers.contains(order.run);
    if (was_here) return;
    if (job == cluster.jobs.end()) {
      wire.answers[order.run] = {.kind = ReportKind::Lost, .run = order.run};
      return;
    }
    if (job->second.run == order.run) return;
    std::set<TestCluster::Gpu> gpus;
    for (const NodePart& part : order.parts) {
      for (const int32_t index : part.gpus) gpus.emplace(part.node, index);
    }
    if (other) gpus.clear();
    if (job->second.managed && cluster.start(job->first, gpus, order.run)) return;
    Report declined{.kind = ReportKind::Declined, .run = order.run, .detail = "it was taken"};
    const std::set<TestCluster::Gpu> unused = cluster.free();
    std::erase_if(gpus, [&](const TestCluster::Gpu& gpu) { return unused.contains(gpu); });
    declined.parts = TestCluster::parts_of(gpus);
    wire.answers[order.run] = std::move(declined);
  }
  [[nodiscard]] const Report* answer_of(RunId run) const {
    if (const auto found = cluster_.over.find(run); found != cluster_.over.end()) {
      return &found->second;
    }
    const auto found = wire_.answers.find(run);
    return found == wire_.answers.end() ? nullptr : &found->second;
  }
  void send(const std::function<void()>& message) {
    if (chance()) return;
    const TimeNs at = now_ + static_cast<TimeNs>(random_.below(3)) * base::kSecond;
    wire_.orders.emplace_back(at, message);
    if (chance()) wire_.orders.emplace_back(at, message);
  }
  bool chance() { return wire_.loss > 0 && random_.uniform() < wire_.loss; }

  TestCluster& cluster_;
  Wire& wire_;
  base::Random random_;
  TimeNs now_ = 0;
  std::set<RunId> asked_{};  ///< runs that are to be reported
  std::map<std::string, std::optional<std::string>> told_{};
  ClusterSeen told_nodes_{};
};

}  // namespace goban::live::loop
