// The state of the core: unfinished jobs, the queue, allocations. Each function is one legal step.
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
#include "core/policy/size/size.hpp"
#include "core/scheduler/accounts.hpp"
#include "core/scheduler/elastic_jobs.hpp"
#include "core/scheduler/node_power.hpp"
#include "core/scheduler/resources.hpp"
#include "core/scheduler/state_values.hpp"
#include "core/scheduler/wait_queue.hpp"

namespace goban::core::scheduler {

using model::JobState;
using model::Tenants;

struct CoreImage;

class State {
 public:
  /// `policies` and what `context` points to must outlive the state.
  State(const policy::SpeedModel& speed, const policy::PolicySet& policies,
        const policy::RunContext& context);

  /// Writes the state into an image; restores an image into a new state (core_image.cpp).
  void put_into(CoreImage& image) const;
  void take_from(const CoreImage& image, SamePolicies same);

  // Steps: a job is submitted, waits, starts, stops or ends.
  void submit(const model::Event& submitted);
  void start(Slot slot, Allocation allocation, TimeNs now);
  /// The job releases its resources and waits again. Returns its former allocation.
  Allocation stop(Slot slot, TimeNs now);
  /// Removes the job, running or not.
  void end(JobId id, TimeNs now);
  /// A job that does not run gets another limit and priority, and its place in the queue by them.
  void alter(const model::Event& altered);
  /// So many tasks of an array may hold resources from now on; 0 = no limit. None is stopped.
  void alter_array(model::ArrayId array, int32_t max_running, TimeNs now);
  /// A waiting elastic job is to start on so many GPUs of this model.
  void set_size(Slot slot, policy::Size size, TimeNs now);
  /// The selection passes the waiting job over, or does so no longer.
  void set_withheld(Slot slot, bool withheld);
  /// What the job reports changes how long it is expected to run in total.
  void expect(Slot slot, const model::RunForecast& forecast, TimeNs now);
  /// The job belongs to this reservation from now on, or to none; it keeps what it holds.
  void move(Slot slot, ReservationId whose, TimeNs now);
  /// Moves jobs that waited too long into the promoted tier.
  void promote_starved(TimeNs now);
  /// Updates the view of orders and sorts the queues again whose order asks for it.
  void resort(TimeNs now);
  /// The order computes keys in batches: see sort_batch().
  [[nodiscard]] bool sorts_in_batches() const { return batches_ != policy::KeyBatches::None; }
  /// Computes the keys that the order computes together, and sorts those jobs again.
  void sort_batch(TimeNs now);
  /// The hard limit that starting this waiting job would exceed; Accounts::kNone: none.
  [[nodiscard]] Accounts::Node limit_on(const JobState& job) const {
    return accounts_.blocking(job.association, job.request.num_gpus);
  }
  /// Removes the job from the queue until a job at this account node ends.
  void set_aside(Slot slot, Accounts::Node limit);
  /// Keeps the nodes of reservations in effect at this time awake.
  void keep_promised_awake(TimeNs now);
  void hold_found(Holder holder, const model::FoundAllocation& found, TimeNs now);
  void drop_found(Holder holder, TimeNs now);
  [[nodiscard]] const std::map<Holder, model::FoundAllocation>& found() const { return found_; }
  /// The node may have become idle, or have ceased to be: it was drained, or is so no longer.
  void follow_power(NodeId node, TimeNs now);
  /// Ends a reservation: its nodes are available to all jobs.
  void end_promise(ReservationId reservation, TimeNs now);
  /// Running jobs on nodes of a reservation in effect that is not theirs, in order of arrival.
  [[nodiscard]] std::vector<Slot> strangers(TimeNs now) const;

  [[nodiscard]] const JobState& job(Slot slot) const { return jobs_[slot]; }
  /// Number of slots, in use or free; an upper bound of every Slot.
  [[nodiscard]] size_t num_slots() const { return jobs_.size(); }
  [[nodiscard]] Slot slot_of(JobId job) const { return slot_of_job_[job.index()]; }
  [[nodiscard]] bool is_active(JobId job) const {
    return job.index() < slot_of_job_.size() && slot_of_job_[job.index()] != kNoSlot;
  }
  [[nodiscard]] std::span<const Running> running() const { return running_; }
  [[nodiscard]] const Allocation& allocation(Slot slot) const {
    return running_[jobs_[slot].running_slot].allocation;
  }
  /// The GPUs that a waiting job last held; empty before its first start.
  [[nodiscard]] std::span<const GpuId> last_gpus(Slot slot) const;
  [[nodiscard]] const policy::SpeedModel& speed() const { return speed_; }
  /// Waiting jobs without a reservation.
  [[nodiscard]] const WaitQueue& queue() const { return queue_; }
  /// Waiting jobs of a reservation; invalid: without one.
  [[nodiscard]] const WaitQueue& queue(ReservationId whose) const;
  [[nodiscard]] size_t num_waiting_in_reservations() const;
  /// Number of waiting jobs that a hard limit keeps out of the queue.
  [[nodiscard]] size_t num_set_aside() const { return num_set_aside_; }
  [[nodiscard]] const Accounts& accounts() const { return accounts_; }
  /// When resort() is due; kNever if the order does not need it or no job waits.
  [[nodiscard]] TimeNs resort_due_ns() const;
  /// Which jobs share which GPUs; kept if sharing is on or there is site knowledge.
  [[nodiscard]] bool has_tenants() const { return tenants_.has_value(); }
  [[nodiscard]] Tenants& tenants() { return *tenants_; }
  [[nodiscard]] const Tenants& tenants() const { return *tenants_; }
  [[nodiscard]] NodePower& node_power() { return node_power_; }
  [[nodiscard]] const NodePower& node_power() const { return node_power_; }
  /// Unfinished jobs whose speed by number of GPUs is known.
  [[nodiscard]] size_t num_elastic() const { return num_elastic_; }
  [[nodiscard]] size_t num_withheld() const { return num_withheld_; }
  [[nodiscard]] const ElasticJobs& elastic() const { return elastic_; }
  /// Those that a job holds.
  [[nodiscard]] std::span<const GpuId> gpus_of(const JobState& job) const;
  /// GPUs requested by all running and waiting jobs.
  [[nodiscard]] int64_t demand_gpus() const { return demand_gpus_; }
  [[nodiscard]] Resources& resources() { return resources_; }
  [[nodiscard]] const Resources& resources() const { return resources_; }
  /// Running jobs by predicted end; kept only if the selection needs estimates.
  [[nodiscard]] const std::set<std::pair<TimeNs, Slot>>& ends() const { return ends_; }

  /// The key of a job at `now`.
  [[nodiscard]] policy::OrderKey key(const JobState& job, TimeNs now) const {
    return policies_of(job).order->key(job, view(), now);
  }
  /// Who decides about this job.
  [[nodiscard]] const policy::PolicySet& policies_of(const JobState& job) const {
    return policies_->of(job.request.reservation);
  }
  /// GPUs that a running job holds on the nodes of this reservation, or on those of none.
  [[nodiscard]] int32_t gpus_within(Slot slot, ReservationId whose, TimeNs now) const;
  /// Number of the job's shape: GPUs, resource type, instances, class and reservation.
  [[nodiscard]] uint32_t shape(const JobState& job) const { return shapes_[slot_of(job.job)]; }
  /// The present or last key of a job in the queue.
  [[nodiscard]] const policy::OrderKey& queue_key(Slot slot) const { return queue_keys_[slot]; }
  /// Time for which the job would hold resources at this slowdown: its walltime limit if it has
  /// one, otherwise from its true work if known, otherwise kNever.
  [[nodiscard]] TimeNs duration_ns(const JobState& job, double slowdown, TimeNs now) const;
  /// Lower bound of the slowdown over all placements.
  [[nodiscard]] double lowest_slowdown(const JobState& job) const;
  /// Whether duration_ns is proportional to the slowdown, which equal shapes share on equal GPUs.
  [[nodiscard]] bool scales(const JobState& job) const;
  /// Of the jobs of this reservation, or of none. Invalid unless keeps_head_promise().
  [[nodiscard]] const HeadPromise& head_promise(ReservationId whose = {}) const;
  void set_head_promise(HeadPromise promise, ReservationId whose = {});
  /// Jobs of no reservation, and those of a part of the cluster with a policy of its own.
  [[nodiscard]] bool keeps_head_promise(ReservationId whose) const;
  /// When a promised start exceeds the bound of its policy, after `now`; kNever if none does.
  [[nodiscard]] TimeNs next_late_ns(TimeNs now) const;
  /// When the next waiting job reaches the starvation bound; kNever if none can.
  [[nodiscard]] TimeNs next_starved_ns() const;

 private:
  static constexpr Slot kNoSlot = UINT32_MAX;
  struct Restoring;  ///< core_image.cpp

  [[nodiscard]] uint32_t shape_number(const model::JobRequest& request);
  [[nodiscard]] policy::OrderView view() const {
    return {.fair_share = fair_share_, .cluster_gpus = speed_.cluster->num_gpus()};
  }
  /// Registers the job of the slot: its id, shape and association.
  void register_job(Slot slot);
  void wait(Slot slot, TimeNs now);
  void enqueue(Slot slot, TimeNs now);
  void insert(Slot slot, TimeNs now);
  /// The waiting jobs were sorted into the queue with provisional keys.
  void sort_newcomers(TimeNs now);
  void sort_all(TimeNs now);
  /// Sorts the jobs of this queue: those whose order `resorts`, or those of the first policy.
  void sort_anew(WaitQueue& queue, TimeNs now, bool resorts);
  /// The shortest period of an order; 0: none has one.
  [[nodiscard]] TimeNs resort_period_ns() const;
  [[nodiscard]] std::deque<Waiter>& waiters_of(const JobState& job);
  void note_waiter(const JobState& job);
  void promote_starved(std::deque<Waiter>& waiters, const policy::PolicySet& of, TimeNs now);
  /// Adds the running jobs, if they may have to yield, and lets the order compute the keys.
  void prepare_keys(std::vector<const JobState*>& jobs, TimeNs now);
  /// Removes a waiting job from the queue, or from the jobs set aside.
  void dequeue(Slot slot);
  [[nodiscard]] WaitQueue& queue_of(Slot slot);
  /// Returns jobs that were set aside, and may fit the limits now, to the queue.
  void bring_back(uint32_t association);
  /// The tasks of an array that are in the core, by arrival.
  [[nodiscard]] std::vector<Slot> tasks_of(model::ArrayId array) const;
  void hold_task(Slot slot, ArrayBooks& books);
  void release_array_place(model::ArrayId array, TimeNs now);
  Allocation remove_running(Slot slot, TimeNs now);
  [[nodiscard]] model::TraitsId traits_of(const JobState& job);
  /// Updates the power states of the nodes of an allocation, which became busy or idle.
  void follow_power(const Allocation& allocation, TimeNs now);
  void follow_power(const model::FoundAllocation& found, TimeNs now);

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
  std::deque<Waiter> waiters_;       ///< by waiting_since; may contain jobs that run by now
  std::deque<Waiter> part_waiters_;  ///< of PolicySet::part
  bool estimates_ = false;           ///< some selection reads predicted ends
  std::set<std::pair<TimeNs, Slot>> ends_;
  WaitQueue queue_;
  std::map<ReservationId, WaitQueue> queues_of_reservations_;
  using Shape = std::tuple<int32_t, model::ResourceTypeId, int32_t, model::AppClass, ReservationId>;
  std::map<Shape, uint32_t> shape_numbers_;
  std::vector<uint32_t> shapes_;              ///< by slot
  std::vector<policy::OrderKey> queue_keys_;  ///< by slot
  policy::KeyBatches batches_ = policy::KeyBatches::None;
  std::vector<JobId> newcomers_;  ///< with provisional keys; may contain jobs that wait no longer
  std::vector<Accounts::Node> set_aside_at_;  ///< by slot; kNone: not set aside
  std::unordered_map<Accounts::Node, WaitQueue> set_aside_;
  size_t num_set_aside_ = 0;
  bool uses_accounts_ = false;
  Accounts accounts_;
  std::map<Holder, model::FoundAllocation> found_;
  std::vector<double> fair_share_;  ///< by association, as of the last resort
  TimeNs resort_due_ns_ = 0;
  Resources resources_;
  uint32_t arrivals_ = 0;
  HeadPromise head_promise_;
  HeadPromise part_promise_;  ///< of PolicySet::part
  ElasticJobs elastic_;
  size_t num_elastic_ = 0;
  size_t num_withheld_ = 0;
};

}  // namespace goban::core::scheduler
