// A scheduler for tests of the API: keeps a job table and applies inputs, without decisions.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "live/loop/live_scheduler.hpp"

namespace goban::serve::api {

/// Two racks of two nodes of four GPUs.
inline core::model::Cluster test_cluster() {
  core::model::ClusterBuilder builder("test");
  builder.add_gpu_model({.name = "H200", .mem_bytes = int64_t{141} << 30});
  for (int i = 0; i < 4; ++i) {
    core::model::ClusterBuilder::Placed placed;
    placed.node.name = "n" + std::to_string(i);
    placed.node.num_gpus = 4;
    placed.node.host.cores = 32;
    placed.rack = i < 2 ? "r0" : "r1";
    builder.add_node(std::move(placed));
  }
  return builder.build().value();
}

class TestSchedulerClient final : public live::loop::SchedulerClient {
 public:
  TestSchedulerClient() {
    site_.cluster = test_cluster();
    site_.scores = core::knowledge::PmScores::uniform(site_.cluster.num_gpus());
  }

  base::Result<live::loop::Answer> ask(live::controller::Input input) override {
    const std::scoped_lock lock(mutex_);
    if (broken) return base::failed("the disk is full", "make room");
    ++num_asked;
    live::loop::Answer answer;
    base::Status done = std::visit([&](auto& each) { return take(each, answer); }, input);
    if (!done) return base::failure(std::move(done.error()));
    ++version_;
    changed_.notify_all();
    return answer;
  }
  live::loop::CommitCycle::Answers ask_all(std::vector<live::controller::Input> inputs) override {
    ++num_cycles;
    live::loop::CommitCycle::Answers answers;
    for (live::controller::Input& input : inputs) answers.push_back(ask(std::move(input)));
    return answers;
  }
  base::Status check(const live::controller::Input&) const override { return {}; }
  void look(const std::function<void(const live::loop::SchedulerSnapshot&)>& see) const override {
    ++num_looks;
    const std::scoped_lock lock(mutex_);
    see({.book = book_, .site = site_, .drained = drained_, .now_ns = now_ns});
  }
  live::loop::DaemonStats stats() const override {
    return {
        .inputs = num_asked, .decisions = 3, .decide_s_sum = 0.6, .decide_s_last = {0.1, 0.3, 0.2}};
  }
  uint64_t version() const override {
    const std::scoped_lock lock(mutex_);
    return version_;
  }
  uint64_t wait_for_change(uint64_t seen, base::TimeNs timeout_ns) const override {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), [&] { return version_ != seen; });
    return version_;
  }
  /// Changes a job directly, bypassing the API.
  void edit(uint32_t number, const std::function<void(live::controller::LiveJob&)>& change) {
    const std::scoped_lock lock(mutex_);
    change(book_.jobs.at(core::model::JobId(number - 1)));
    ++version_;
    changed_.notify_all();
  }
  void edit_book(const std::function<void(live::controller::JobBook&)>& change) {
    const std::scoped_lock lock(mutex_);
    change(book_);
  }
  void edit_site(const std::function<void(live::controller::Site&)>& change) {
    const std::scoped_lock lock(mutex_);
    change(site_);
  }
  /// Sets a job to running on these GPUs.
  void run(uint32_t number, std::vector<core::model::GpuId> gpus) {
    edit(number, [&](live::controller::LiveJob& job) {
      job.stage = live::controller::JobStage::Running;
      job.runs = 1;
      job.first_start_ns = job.run_start_ns = now_ns;
      job.gpus = gpus;
      book_.runs[{.job = job.job, .run = 1}] = {.run = {.job = job.job, .run = 1},
                                                .stage = live::controller::LiveRun::Stage::Running,
                                                .gpus = gpus};
    });
  }

  std::atomic<bool> broken = false;
  std::atomic<int64_t> num_asked = 0;
  mutable std::atomic<int64_t> num_looks = 0;
  std::atomic<int64_t> num_cycles = 0;  ///< calls of ask_all()
  std::vector<uint32_t> changed{};      ///< job numbers in the order of the changes
  std::set<uint32_t> refused{};         ///< job numbers for which changes are refused
  base::TimeNs now_ns = 1'700'000'000 * base::kSecond;

 private:
  template <typename Input>
  base::Status take(Input&, live::loop::Answer&) {
    return {};
  }
  base::Status take(live::controller::Submit& submit, live::loop::Answer& answer) {
    answer.first_job = core::model::JobId(book_.next_job);
    for (live::job::JobSpec& spec : submit.jobs) {
      const core::model::JobId id(book_.next_job++);
      if (spec.array_task >= 0) spec.array_first = answer.first_job;
      const auto stage =
          spec.held ? live::controller::JobStage::Held : live::controller::JobStage::Waiting;
      book_.jobs[id] = {.job = id, .spec = std::move(spec), .stage = stage, .submit_ns = now_ns};
    }
    return {};
  }
  base::Status take(live::controller::Cancel& cancel, live::loop::Answer&) {
    return change(cancel.job, [&](live::controller::LiveJob& job) {
      job.stage = live::controller::JobStage::Done;
      job.result = live::controller::JobResult::Cancelled;
      job.end_ns = now_ns;
      job.detail = "cancelled by " + cancel.by.user;
    });
  }
  base::Status take(live::controller::Hold& hold, live::loop::Answer&) {
    return change(hold.job, [](live::controller::LiveJob& job) {
      job.stage = live::controller::JobStage::Held;
    });
  }
  base::Status take(live::controller::Release& release, live::loop::Answer&) {
    return change(release.job, [](live::controller::LiveJob& job) {
      job.stage = live::controller::JobStage::Waiting;
    });
  }
  base::Status take(live::controller::Alter& alter, live::loop::Answer&) {
    return change(alter.job, [&](live::controller::LiveJob& job) {
      job.spec.priority = alter.priority.value_or(job.spec.priority);
      job.spec.walltime_limit_ns = alter.walltime_limit_ns.value_or(job.spec.walltime_limit_ns);
      job.spec.array_limit = alter.array_limit.value_or(job.spec.array_limit);
    });
  }
  base::Status take(live::controller::Drain& drain, live::loop::Answer&) {
    drained_[drain.node] = drain.reason;
    return {};
  }
  base::Status take(live::controller::Resume& resume, live::loop::Answer&) {
    drained_.erase(resume.node);
    return {};
  }
  base::Status take(live::controller::Fence&, live::loop::Answer&) {
    return base::usage_error("the node is not down");
  }
  base::Status take(live::controller::Reserve& reserve, live::loop::Answer& answer) {
    live::controller::ReservationPlan& plan = reserve.plan;
    for (const auto& [id, other] : book_.reservations) {
      for (const core::model::NodeId node : plan.nodes) {
        if (!other.is_open() || std::ranges::count(other.plan.nodes, node) == 0) continue;
        return base::usage_error("node " + site_.cluster.node(node).name + " is promised");
      }
    }
    const auto nodes = static_cast<int32_t>(site_.cluster.nodes().size());
    for (int32_t i = 0; i < std::min(reserve.num_nodes, nodes); ++i) {
      plan.nodes.emplace_back(static_cast<uint32_t>(i));
    }
    answer.reservation = core::model::ReservationId(book_.next_reservation++);
    book_.reservations[answer.reservation] = {
        .id = answer.reservation, .plan = plan, .made_ns = now_ns};
    return {};
  }
  base::Status take(live::controller::CancelReservation& cancel, live::loop::Answer&) {
    live::controller::LiveReservation& found = book_.reservations.at(cancel.reservation);
    if (!found.is_open()) return base::usage_error("it is over");
    found.state = live::controller::ReservationState::Cancelled;
    found.closed_ns = now_ns;
    return {};
  }
  base::Status take(live::controller::StartPilot& start, live::loop::Answer&) {
    auto& pilot = book_.pilot;
    if (pilot && pilot->runs()) return base::usage_error("a pilot is running");
    pilot.emplace();
    pilot->plan = start.plan;
    pilot->started_ns = now_ns;
    pilot->started_by = start.by.user;
    if (start.plan.is_limited()) pilot->part = core::model::ReservationId(7U);
    pilot->periods.resize(static_cast<size_t>(start.plan.num_periods()));
    return {};
  }
  base::Status take(live::controller::StopPilot& stop, live::loop::Answer&) {
    auto& pilot = book_.pilot;
    if (!pilot || !pilot->runs()) return base::usage_error("no pilot is running");
    pilot->state = live::controller::PilotState::Stopped;
    pilot->closed_ns = now_ns;
    pilot->detail = stop.reason;
    return {};
  }
  base::Status change(core::model::JobId id,
                      const std::function<void(live::controller::LiveJob&)>& make) {
    live::controller::LiveJob& job = book_.jobs.at(id);
    const auto number = static_cast<uint32_t>(live::job::job_number(id));
    if (job.stage == live::controller::JobStage::Done) return base::usage_error("the job is over");
    if (refused.contains(number)) return base::usage_error("it cannot be changed");
    make(job);
    changed.push_back(number);
    return {};
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  live::controller::Site site_;
  live::controller::JobBook book_;
  std::map<core::model::NodeId, std::string> drained_;
  uint64_t version_ = 1;
};

}  // namespace goban::serve::api
