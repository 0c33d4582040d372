// The state of the core: active jobs, the queue, who runs where. Each function is one legal step;
// policies and events are above this, in core.cpp and decision.cpp.
#pragma once

#include <deque>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/event.hpp"
#include "policy/policy_set.hpp"
#include "scheduler/resources.hpp"
#include "scheduler/wait_queue.hpp"

namespace goban::scheduler {

using model::GpuId;
using model::JobId;
using model::JobState;

/// Index of an active job's JobState; reused after the job is gone.
using Slot = uint32_t;

class State {
 public:
  struct Running {
    Slot slot = 0;
    Allocation allocation;
  };

  /// `policies` and `oracle` (may be null) outlive the state.
  State(const policy::SpeedModel& speed, const policy::PolicySet& policies,
        const model::WorkOracle* oracle);

  // Steps. A job is submitted, waits, starts, stops or ends.
  void submit(const model::Event& submitted);
  void start(Slot slot, Allocation allocation, TimeNs now);
  /// The job gives up its resources and waits again. Returns what it held.
  Allocation stop(Slot slot, TimeNs now);
  /// The job is gone, running or not.
  void end(JobId id, TimeNs now);
  /// Moves jobs that waited too long into the promoted tier.
  void promote_starved(TimeNs now);

  [[nodiscard]] const JobState& job(Slot slot) const { return jobs_[slot]; }
  /// Slots in use or free for reuse; every Slot is below.
  [[nodiscard]] size_t num_slots() const { return jobs_.size(); }
  [[nodiscard]] Slot slot_of(JobId job) const { return slot_of_job_[job.index()]; }
  [[nodiscard]] bool is_active(JobId job) const {
    return job.index() < slot_of_job_.size() && slot_of_job_[job.index()] != kNoSlot;
  }
  [[nodiscard]] std::span<const Running> running() const { return running_; }
  [[nodiscard]] const Allocation& allocation(Slot slot) const {
    return running_[jobs_[slot].running_slot].allocation;
  }
  /// GPUs that a waiting job held last; empty before its first start.
  [[nodiscard]] std::span<const GpuId> last_gpus(Slot slot) const;
  [[nodiscard]] const policy::SpeedModel& speed() const { return speed_; }
  [[nodiscard]] const WaitQueue& queue() const { return queue_; }
  [[nodiscard]] Resources& resources() { return resources_; }
  [[nodiscard]] const Resources& resources() const { return resources_; }
  /// Running jobs by predicted end; kept only if the selection needs estimates.
  [[nodiscard]] const std::set<std::pair<TimeNs, Slot>>& ends() const { return ends_; }

  [[nodiscard]] policy::OrderKey key(const JobState& job, TimeNs now) const {
    return policies_->order->key(job, now);
  }
  /// Time for which the job would hold resources at this slowdown: its walltime limit if it has
  /// one, else its true work if that is known, else kNever.
  [[nodiscard]] TimeNs duration_ns(const JobState& job, double slowdown, TimeNs now) const;
  /// Lower bound of duration_ns over all placements.
  [[nodiscard]] TimeNs shortest_ns(const JobState& job, TimeNs now) const;
  /// When the next waiting job becomes starved; kNever if none can.
  [[nodiscard]] TimeNs next_starved_ns() const;

 private:
  static constexpr Slot kNoSlot = UINT32_MAX;

  struct ArrayBooks {
    int32_t active = 0;
    std::deque<Slot> held;
  };
  struct Waiter {
    TimeNs since = 0;
    JobId job;
  };

  void wait(Slot slot, TimeNs now);
  void enqueue(const JobState& job, TimeNs now);
  void release_array_place(model::ArrayId array, TimeNs now);
  Allocation remove_running(Slot slot);

  const policy::PolicySet* policies_;
  const model::WorkOracle* oracle_;
  policy::SpeedModel speed_;
  double fastest_ = 1;  ///< lowest slowdown of any GPU
  std::vector<JobState> jobs_;
  std::vector<Slot> free_slots_;
  std::vector<Slot> slot_of_job_;
  std::vector<Running> running_;
  std::unordered_map<Slot, std::vector<GpuId>> last_gpus_;
  std::unordered_map<model::ArrayId, ArrayBooks> arrays_;
  std::deque<Waiter> waiters_;  ///< in order of waiting_since; may name jobs that run by now
  std::set<std::pair<TimeNs, Slot>> ends_;
  WaitQueue queue_;
  Resources resources_;
  uint32_t arrivals_ = 0;
};

}  // namespace goban::scheduler
