// The state of the core: active jobs, the queue, who runs where. Each function is one legal step;
// policies and events are above this, in core.cpp and decision.cpp.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/model/event.hpp"
#include "core/model/tenants.hpp"
#include "core/policy/order/queue_order.hpp"
#include "core/policy/policy_set.hpp"
#include "core/scheduler/accounts.hpp"
#include "core/scheduler/node_power.hpp"
#include "core/scheduler/resources.hpp"
#include "core/scheduler/wait_queue.hpp"

namespace goban::core::scheduler {

using model::GpuId;
using model::JobId;
using model::JobState;
using model::Tenants;

/// Index of an active job's JobState; reused after the job is gone.
using Slot = uint32_t;

struct CoreImage;

class State {
 public:
  struct Running {
    Slot slot = 0;
    Allocation allocation;
  };

  /// `policies` and what `context` points to outlive the state.
  State(const policy::SpeedModel& speed, const policy::PolicySet& policies,
        const policy::RunContext& context);

  /// What it holds goes into an image, and comes back into a state in which nothing has happened
  /// (core_image.cpp). `same_policy`: keys of the queue are still right.
  void put_into(CoreImage& image) const;
  void take_from(const CoreImage& image, bool same_policy);

  // Steps. A job is submitted, waits, starts, stops or ends.
  void submit(const model::Event& submitted);
  void start(Slot slot, Allocation allocation, TimeNs now);
  /// The job gives up its resources and waits again. Returns what it held.
  Allocation stop(Slot slot, TimeNs now);
  /// The job is gone, running or not.
  void end(JobId id, TimeNs now);
  /// Moves jobs that waited too long into the promoted tier.
  void promote_starved(TimeNs now);
  /// Brings the order's view up to date and sorts the queue anew.
  void resort(TimeNs now);
  /// The hard limit that starting this waiting job would break; Accounts::kNone: none.
  [[nodiscard]] Accounts::Node limit_on(const JobState& job) const {
    return accounts_.blocking(job.association, job.request.num_gpus);
  }
  /// The job leaves the queue until somebody at that node of the accounts ends.
  void set_aside(Slot slot, Accounts::Node limit);
  /// Nodes of reservations that hold at this time do not rest.
  void keep_promised_awake(TimeNs now);
  /// A reservation is over: its nodes are everybody's.
  void end_promise(ReservationId reservation, TimeNs now);
  /// Running jobs that hold a part of a node which a reservation of others has at this time, in
  /// order of arrival.
  [[nodiscard]] std::vector<Slot> strangers(TimeNs now) const;

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
  /// Waiting jobs of no reservation.
  [[nodiscard]] const WaitQueue& queue() const { return queue_; }
  /// Those of one; invalid: as above.
  [[nodiscard]] const WaitQueue& queue(ReservationId whose) const;
  [[nodiscard]] size_t num_waiting_in_reservations() const;
  /// Waiting jobs that a hard limit keeps out of the queue.
  [[nodiscard]] size_t num_set_aside() const { return num_set_aside_; }
  [[nodiscard]] const Accounts& accounts() const { return accounts_; }
  /// When resort() is due; kNever if the order does not ask for it or nobody waits.
  [[nodiscard]] TimeNs resort_due_ns() const;
  /// Who shares which GPUs; kept if GPUs may be shared or somebody wants to know.
  [[nodiscard]] bool has_tenants() const { return tenants_.has_value(); }
  [[nodiscard]] Tenants& tenants() { return *tenants_; }
  [[nodiscard]] const Tenants& tenants() const { return *tenants_; }
  [[nodiscard]] NodePower& node_power() { return node_power_; }
  [[nodiscard]] const NodePower& node_power() const { return node_power_; }
  /// GPUs asked by all active jobs that run or wait.
  [[nodiscard]] int64_t demand_gpus() const { return demand_gpus_; }
  [[nodiscard]] Resources& resources() { return resources_; }
  [[nodiscard]] const Resources& resources() const { return resources_; }
  /// Running jobs by predicted end; kept only if the selection needs estimates.
  [[nodiscard]] const std::set<std::pair<TimeNs, Slot>>& ends() const { return ends_; }

  /// The key of a job as of now.
  [[nodiscard]] policy::OrderKey key(const JobState& job, TimeNs now) const {
    return policies_->order->key(job, view(), now);
  }
  /// Number of what the job asks for: GPUs, resource type, instances, class and reservation.
  [[nodiscard]] uint32_t shape(const JobState& job) const { return shapes_[slot_of(job.job)]; }
  /// The key that a job has, or had last, in the queue.
  [[nodiscard]] const policy::OrderKey& queue_key(Slot slot) const { return queue_keys_[slot]; }
  /// Time for which the job would hold resources at this slowdown: its walltime limit if it has
  /// one, else its true work if that is known, else kNever.
  [[nodiscard]] TimeNs duration_ns(const JobState& job, double slowdown, TimeNs now) const;
  /// Lower bound of duration_ns over all placements.
  [[nodiscard]] TimeNs shortest_ns(const JobState& job, TimeNs now) const;
  /// When the next waiting job becomes starved; kNever if none can.
  [[nodiscard]] TimeNs next_starved_ns() const;

 private:
  static constexpr Slot kNoSlot = UINT32_MAX;
  struct Restoring;  ///< core_image.cpp

  struct ArrayBooks {
    int32_t active = 0;
    std::deque<Slot> held;
  };
  struct Waiter {
    TimeNs since = 0;
    JobId job;
  };

  [[nodiscard]] policy::OrderView view() const {
    return {.fair_share = fair_share_, .cluster_gpus = speed_.cluster->num_gpus()};
  }
  /// Gives the job of the slot its number, shape and association.
  void register_job(Slot slot);
  void wait(Slot slot, TimeNs now);
  void enqueue(Slot slot, TimeNs now);
  /// Takes a waiting job out of the queue or from where it was set aside.
  void dequeue(Slot slot);
  [[nodiscard]] WaitQueue& queue_of(Slot slot);
  /// Jobs that were set aside and may fit the limits now come back to the queue.
  void bring_back(uint32_t association);
  void release_array_place(model::ArrayId array, TimeNs now);
  Allocation remove_running(Slot slot, TimeNs now);
  [[nodiscard]] model::TraitsId traits_of(const JobState& job);
  /// Nodes of the allocation became busy, or idle.
  void follow_power(const Allocation& allocation, TimeNs now);

  const policy::PolicySet* policies_;
  const model::WorkOracle* oracle_;
  policy::SpeedModel speed_;
  std::optional<Tenants> tenants_;
  NodePower node_power_;
  int64_t demand_gpus_ = 0;
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
  std::map<ReservationId, WaitQueue> queues_of_reservations_;
  using Shape = std::tuple<int32_t, model::ResourceTypeId, int32_t, model::AppClass, ReservationId>;
  std::map<Shape, uint32_t> shape_numbers_;
  std::vector<uint32_t> shapes_;              ///< by slot
  std::vector<policy::OrderKey> queue_keys_;  ///< by slot
  std::vector<Accounts::Node> set_aside_at_;  ///< by slot; kNone: not set aside
  std::unordered_map<Accounts::Node, WaitQueue> set_aside_;
  size_t num_set_aside_ = 0;
  bool uses_accounts_ = false;
  Accounts accounts_;
  std::vector<double> fair_share_;  ///< by association, as of the last resort
  TimeNs resort_due_ns_ = 0;
  Resources resources_;
  uint32_t arrivals_ = 0;
};

}  // namespace goban::core::scheduler
