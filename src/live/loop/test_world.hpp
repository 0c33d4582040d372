// Simulated environment for tests of the live scheduler: an engine whose messages are lost,
// duplicated and delayed, a journal on a disk that fills (test_log.hpp), failing nodes, and a
// daemon that is killed. Determined by one seed.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "live/loop/commit_cycle.hpp"
#include "live/loop/test_log.hpp"

namespace goban::live::loop {

/// Duration and exit code of a run that is not stopped.
struct Fate {
  TimeNs takes_ns = 0;
  int32_t exit_code = 0;
};

/// Actual state of the runs. Orders and reports arrive late, sometimes twice, sometimes never, but
/// in order.
class FaultyEngine final : public Engine {
 public:
  struct Run {
    enum class State : uint8_t { Running, Ended, Lost, Unable } state = State::Running;
    std::vector<GpuId> gpus{};
    TimeNs started_ns = 0;
    TimeNs ends_ns = 0;
    int32_t exit_code = 0;
    bool stopped = false;
    TimeNs suspended_ns = -1;  ///< since when; -1 = it is not suspended
  };

  FaultyEngine(const core::model::Cluster& cluster, uint64_t seed)
      : cluster_(cluster), random_(seed) {}

  void launch(const LaunchOrder& order) override {
    send([this, order] { start(order); });
  }
  void stop(RunId run, StopReason) override {
    send([this, run] { end_soon(run); });
  }
  void hurry(RunId run, StopUrgency) override {
    send([this, run] {
      const auto found = runs_.find(run);
      if (found == runs_.end() || found->second.state != Run::State::Running) return;
      pause(run, false);
      found->second.stopped = true;
      found->second.ends_ns = std::min(found->second.ends_ns, now_);
    });
  }
  void suspend(RunId run, bool suspended) override {
    send([this, run, suspended] { pause(run, suspended); });
  }
  void resume(const LaunchOrder& order) override {
    send([this, order] { answer(order.run); });
  }
  void forget(JobId job, const std::string& payload) override {
    forgotten_.insert(job);
    if (!payload.empty()) removed_payloads_.insert(payload);
  }
  void rest(const std::string& name) override {
    send([this, node = *cluster_.find_node(name)] {
      rests_ += asleep_.insert(node).second ? 1 : 0;
    });
  }
  void wake(const std::string& name) override {
    send([this, node = *cluster_.find_node(name)] {
      asleep_.erase(node);
      report_node(node);
    });
  }
  std::vector<EngineEvent> take_events() override {
    std::vector<EngineEvent> out;
    while (!reports_.empty() && reports_.front().first <= now_) {
      out.push_back(std::move(reports_.front().second));
      reports_.pop_front();
    }
    return out;
  }

  /// Time passes: orders arrive, runs end.
  void advance(TimeNs now) {
    now_ = std::max(now_, now);
    while (!orders_.empty() && orders_.front().first <= now_) {
      const Message message = std::move(orders_.front().second);
      orders_.pop_front();
      message();
    }
    for (auto& [id, run] : runs_) {
      if (run.state != Run::State::Running || run.suspended_ns >= 0) continue;
      if (run.ends_ns > now_) {
        tell_progress(id, run);
        continue;
      }
      run.state = Run::State::Ended;
      answer(id);
    }
  }
  void fail_node(NodeId node) {
    down_.insert(node);
    asleep_.erase(node);
    for (auto& [id, run] : runs_) {
      if (run.state == Run::State::Running && on_node(run, node)) run.state = Run::State::Lost;
    }
    report_node(node);
  }
  void mend_node(NodeId node) {
    if (down_.erase(node) > 0) report_node(node);
  }
  /// Reports the state of each node, as an engine does periodically.
  void report_nodes() {
    for (uint32_t i = 0; i < cluster_.nodes().size(); ++i) {
      if (asleep_.contains(NodeId(i))) continue;
      report_node(NodeId(i));
    }
  }
  /// The daemon was killed: reports that it had not taken are queried again.
  void drop_reports() { reports_.clear(); }

  std::map<JobId, Fate> fates;
  bool tells_progress = false;
  double full = 0;  ///< share of launches that the machine cannot make
  double loss = 0;  ///< share of messages lost; the same share is duplicated
  [[nodiscard]] const std::map<RunId, Run>& runs() const { return runs_; }
  [[nodiscard]] bool is_down(NodeId node) const { return down_.contains(node); }
  [[nodiscard]] size_t rests() const { return rests_; }
  [[nodiscard]] const std::set<std::string>& removed_payloads() const { return removed_payloads_; }

 private:
  using Message = std::function<void()>;
  void send(const Message& message) {
    if (chance()) return;
    orders_.emplace_back(now_ + delay(), message);
    if (chance()) orders_.emplace_back(orders_.back());
  }
  void report_node(NodeId node) {
    report({.kind = down_.contains(node) ? ReportKind::NodeDown : ReportKind::NodeUp,
            .node = cluster_.node(node).name});
  }
  void report(const Report& sent) {
    if (chance()) return;
    reports_.emplace_back(now_ + delay(), sent);
    if (chance()) reports_.emplace_back(reports_.back());
  }
  bool chance() { return loss > 0 && random_.uniform() < loss; }
  TimeNs delay() { return static_cast<TimeNs>(random_.below(3)) * base::kSecond; }
  void start(const LaunchOrder& order) {
    if (forgotten_.contains(order.run.job) || runs_.contains(order.run)) return answer(order.run);
    Run run{.gpus = order.gpus, .started_ns = now_};
    const Fate fate = fates[order.run.job];
    run.ends_ns = now_ + fate.takes_ns;
    run.exit_code = fate.exit_code;
    const bool dead = std::ranges::any_of(order.parts, [&](const NodePart& part) {
      return down_.contains(*cluster_.find_node(part.node));
    });
    if (dead) run.state = Run::State::Lost;
    if (full > 0 && random_.uniform() < full) run.state = Run::State::Unable;
    runs_.emplace(order.run, std::move(run));
    answer(order.run);
  }
  /// Epochs of five seconds; some jobs report only their busy time.
  void tell_progress(RunId id, const Run& run) {
    constexpr double kEpoch_s = 5;
    if (!tells_progress || random_.below(3) != 0) return;
    const double ran_s = base::to_seconds(now_ - run.started_ns);
    const double takes_s = base::to_seconds(run.ends_ns - run.started_ns);
    Report sent{.kind = ReportKind::Progress, .run = id};
    if (id.job.value % 5 == 0) {
      sent.progress.busy_s = ran_s;
    } else {
      sent.progress.epoch = ran_s / kEpoch_s;
      sent.progress.epochs = takes_s / kEpoch_s;
    }
    report(sent);
  }
  void pause(RunId id, bool suspended) {
    const auto found = runs_.find(id);
    if (found == runs_.end() || found->second.stopped) return;
    Run& run = found->second;
    if (suspended == (run.suspended_ns >= 0)) return;
    if (!suspended) run.ends_ns += now_ - run.suspended_ns;
    run.suspended_ns = suspended ? now_ : -1;
  }
  void end_soon(RunId id) {
    const auto found = runs_.find(id);
    if (found == runs_.end()) return answer(id);
    Run& run = found->second;
    if (run.state != Run::State::Running) return answer(id);
    pause(id, false);
    if (!run.stopped) run.ends_ns = std::min(run.ends_ns, now_ + 5 * base::kSecond);
    run.stopped = run.stopped || run.ends_ns > now_;
  }
  void answer(RunId id) {
    const auto found = runs_.find(id);
    if (found == runs_.end()) {
      runs_[id].state = Run::State::Lost;
      return report({.kind = ReportKind::Lost, .run = id});
    }
    const Run& run = found->second;
    switch (run.state) {
      case Run::State::Running:
        return report({.kind = ReportKind::Started, .run = id});
      case Run::State::Lost:
        return report({.kind = ReportKind::Lost, .run = id});
      case Run::State::Unable:
        return report({.kind = ReportKind::Unable, .run = id, .detail = "disk full"});
      case Run::State::Ended:
        return report({.kind = ReportKind::Ended,
                       .run = id,
                       .exit_code = run.stopped ? -1 : run.exit_code,
                       .signal = run.stopped ? 15 : 0});
    }
  }
  [[nodiscard]] bool on_node(const Run& run, NodeId node) const {
    return std::ranges::any_of(run.gpus, [&](GpuId gpu) { return cluster_.node_of(gpu) == node; });
  }

  const core::model::Cluster& cluster_;
  base::Random random_;
  TimeNs now_ = 0;
  std::deque<std::pair<TimeNs, Message>> orders_;
  std::deque<std::pair<TimeNs, Report>> reports_;
  std::map<RunId, Run> runs_;
  std::set<JobId> forgotten_;
  std::set<std::string> removed_payloads_;
  std::set<NodeId> down_;
  std::set<NodeId> asleep_;
  size_t rests_ = 0;
};

}  // namespace goban::live::loop
