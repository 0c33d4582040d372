#include "core/scheduler/core_image.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace goban::core::scheduler {

using model::JobPhase;

void State::put_into(CoreImage& image) const {
  for (const Slot slot : slot_of_job_) {
    if (slot == kNoSlot) continue;
    CoreImage::Job& job = image.jobs.emplace_back();
    job.slot = slot;
    job.state = jobs_[slot];
    if (job.state.phase != JobPhase::Held) job.queue_key = queue_keys_[slot];
    job.set_aside_at = set_aside_at_[slot];
    const auto last = last_gpus(slot);
    job.last_gpus.assign(last.begin(), last.end());
    if (job.state.phase == JobPhase::Running) job.allocation = allocation(slot);
    if (job.state.phase != JobPhase::Waiting) continue;
    const WaitQueue& queue = job.set_aside_at == Accounts::kNone
                                 ? this->queue(job.state.request.reservation)
                                 : set_aside_.at(job.set_aside_at);
    job.shortest_ns = queue.find(job.queue_key)->duration_ns;
  }
  std::ranges::sort(image.jobs, {}, [](const CoreImage::Job& job) { return job.state.arrival; });
  image.free_slots = free_slots_;
  for (const auto& [array, books] : arrays_) {
    if (books.active == 0 && books.held.empty()) continue;
    CoreImage::Array& out = image.arrays.emplace_back();
    out.array = array;
    out.active = books.active;
    out.surplus = books.surplus;
    for (const Slot slot : books.held) out.held.push_back(jobs_[slot].job);
  }
  std::ranges::sort(image.arrays, {}, &CoreImage::Array::array);
  for (const std::deque<Waiter>* waiters : {&waiters_, &part_waiters_}) {
    for (const Waiter& waiter : *waiters) image.waiters.push_back({waiter.since, waiter.job});
  }
  image.arrivals = arrivals_;
  image.forecasts = policies_->uses_forecasts;
  image.head_promise = head_promise_;
  if (policies_->of_part) {
    image.part_policy = policies_->of_part->name;
    image.part_forecasts = policies_->of_part->uses_forecasts;
    image.part_promise = part_promise_;
  }
  if (uses_accounts_) image.usages = accounts_.usages();
  image.fair_share = fair_share_;
  image.resort_due_ns = resort_due_ns_;
  const auto num_nodes = static_cast<uint32_t>(speed_.cluster->nodes().size());
  for (uint32_t node = 0; node < num_nodes; ++node) {
    image.nodes.push_back(
        {resources_.rooms()[node].open, resources_.usable_until_ns(NodeId(node))});
  }
  const auto promises = resources_.promised().all();
  image.promises.assign(promises.begin(), promises.end());
  for (const auto& [holder, held] : found_) {
    image.found.push_back({.job = holder.first, .gpu = holder.second, .held = held});
  }
  image.num_gpus = speed_.cluster->num_gpus();
  image.node_power = node_power_.image();
  if (tenants_) image.tenants = tenants_->image();
}

/// The steps of restoring an image.
struct State::Restoring {
  State& state;
  const CoreImage& image;
  SamePolicies same;

  /// Who decides about the job is who decided about it: its key is still valid.
  [[nodiscard]] bool same_policy(const JobState& job) const {
    return &state.policies_of(job) == state.policies_ ? same.of_all : same.of_part;
  }

  void add_jobs() {
    const size_t num_slots = image.jobs.size() + image.free_slots.size();
    state.jobs_.resize(num_slots);
    state.queue_keys_.resize(num_slots);
    state.shapes_.resize(num_slots);
    state.set_aside_at_.assign(num_slots, Accounts::kNone);
    state.free_slots_ = image.free_slots;
    state.arrivals_ = image.arrivals;
    for (const CoreImage::Job& each : image.jobs) {
      state.jobs_[each.slot] = each.state;
      state.queue_keys_[each.slot] = each.queue_key;
      state.jobs_[each.slot].withheld = false;  // every decision says it anew
      state.register_job(each.slot);
      if (!each.last_gpus.empty()) state.last_gpus_[each.slot] = each.last_gpus;
    }
  }

  void add_arrays() {
    for (const CoreImage::Array& each : image.arrays) {
      ArrayBooks& books = state.arrays_[each.array];
      books.active = each.active;
      books.surplus = each.surplus;
      for (const JobId job : each.held) books.held.push_back(state.slot_of(job));
    }
    for (const auto& waiter : image.waiters) {
      // Who does not wait any longer is passed over whatever its place.
      const JobState* job =
          state.is_active(waiter.job) ? &state.jobs_[state.slot_of(waiter.job)] : nullptr;
      if (job != nullptr && !same_policy(*job)) continue;  // see queue_jobs()
      const policy::PolicySet& of = job == nullptr ? *state.policies_ : state.policies_of(*job);
      if (of.starvation_ns == 0) continue;
      (&of == state.policies_ ? state.waiters_ : state.part_waiters_)
          .push_back({waiter.since_ns, waiter.job});
    }
    // Those of a part that is no more were behind all others.
    for (std::deque<Waiter>* waiters : {&state.waiters_, &state.part_waiters_}) {
      std::ranges::stable_sort(*waiters, {}, &Waiter::since);
    }
  }

  void run_jobs() {
    std::vector<const CoreImage::Job*> running;
    for (const CoreImage::Job& each : image.jobs) {
      if (each.state.phase == JobPhase::Running) running.push_back(&each);
    }
    std::ranges::sort(running, {},
                      [](const CoreImage::Job* job) { return job->state.running_slot; });
    for (const CoreImage::Job* each : running) {
      JobState& job = state.jobs_[each->slot];
      if (job.elastic) {
        const NodeId node = state.speed_.cluster->node_of(each->allocation.gpus.front());
        job.gpu_model = state.speed_.cluster->node(node).gpu_model;
      }
      state.resources_.take(job.request, each->allocation);
      if (state.uses_accounts_) {
        state.accounts_.started_before(job.association, job.request.num_gpus);
      }
      if (state.estimates_) {
        if (!same_policy(job)) job.predicted_end_ns = predicted_end_ns(job, each->allocation);
        state.ends_.emplace(job.predicted_end_ns, each->slot);
      }
      state.running_.push_back({each->slot, each->allocation});
    }
    if (!state.tenants_) return;
    if (image.tenants) {
      state.tenants_->restore(*image.tenants);
      return;
    }
    std::ranges::stable_sort(running, {},
                             [](const CoreImage::Job* job) { return job->state.run_start_ns; });
    for (const CoreImage::Job* each : running) {
      if (each->allocation.gpus.empty()) continue;
      const JobState& job = state.jobs_[each->slot];
      state.tenants_->add(job.job, state.traits_of(job), each->allocation.gpus, job.run_start_ns);
    }
  }

  [[nodiscard]] TimeNs predicted_end_ns(const JobState& job, const Allocation& allocation) const {
    const double slowdown = state.speed_.slowdown(job.request, allocation.gpus);
    return base::add_saturating(job.run_start_ns,
                                state.duration_ns(job, slowdown, job.run_start_ns));
  }

  void restrict_nodes() {
    for (uint32_t node = 0; node < image.nodes.size(); ++node) {
      state.resources_.drain(NodeId(node), image.nodes[node].usable_until_ns);
      if (!image.nodes[node].is_open) state.resources_.close(NodeId(node));
    }
    state.node_power_.restore(image.node_power);
    if (same.of_all || !state.node_power_.active()) return;
    for (uint32_t node = 0; node < image.nodes.size(); ++node) {
      state.node_power_.set_idle(NodeId(node), state.resources_.idle(NodeId(node)),
                                 image.decided_at_ns);
    }
  }

  void queue_jobs() {
    for (const CoreImage::Job& each : image.jobs) {
      const JobState& job = state.jobs_[each.slot];
      if (job.phase != JobPhase::Held) state.demand_gpus_ += job.request.num_gpus;
      if (job.phase != JobPhase::Waiting) continue;
      if (!same_policy(job)) {
        state.enqueue(each.slot, job.waiting_since_ns);
        state.note_waiter(job);  // the other policy may have had no starvation bound
        continue;
      }
      const WaitQueue::Entry entry{each.queue_key,           each.slot, job.request.num_gpus,
                                   state.shapes_[each.slot], false,     each.shortest_ns};
      if (!is_above(each.set_aside_at, job)) {
        state.queue_of(each.slot).insert(entry);
        continue;
      }
      state.set_aside_[each.set_aside_at].insert(entry);
      state.set_aside_at_[each.slot] = each.set_aside_at;
      ++state.num_set_aside_;
    }
  }

  /// The account node is one whose limits apply to the job.
  [[nodiscard]] bool is_above(Accounts::Node wanted, const JobState& job) const {
    if (wanted == Accounts::kNone || !state.uses_accounts_) return false;
    for (Accounts::Node node = state.accounts_.leaf(job.association); node != Accounts::kNone;
         node = state.accounts_.parent(node)) {
      if (node == wanted) return true;
    }
    return false;
  }
};

void State::take_from(const CoreImage& image, SamePolicies same) {
  GOBAN_CHECK(jobs_.empty() && arrivals_ == 0, "restore requires a new state");
  if (uses_accounts_) accounts_.restore(image.usages);
  fair_share_ = image.fair_share;
  if (same.of_all) head_promise_ = image.head_promise;
  if (same.of_part) part_promise_ = image.part_promise;
  resort_due_ns_ = image.resort_due_ns;
  Restoring restoring{*this, image, same};
  for (const PromisedNodes::Promise& each : image.promises) resources_.promised().add(each);
  restoring.add_jobs();
  restoring.add_arrays();
  restoring.run_jobs();
  for (const CoreImage::Found& each : image.found) {
    resources_.take_found(each.held);
    found_.emplace(Holder{each.job, each.gpu}, each.held);
  }
  restoring.restrict_nodes();
  restoring.queue_jobs();
}

CoreImage Core::image() const {
  CoreImage image;
  image.policy = policies_.name;
  state_.put_into(image);
  if (books_) image.sharing = books_->image();
  image.disturbed = disturbed_;
  image.next_review_ns = next_review_ns_;
  image.next_migration_ns = next_migration_ns_;
  image.decided_at_ns = decision_.at_ns;
  return image;
}

base::Status Core::restore(const CoreImage& image) {
  if (auto fits =
          check_image(image, *state_.speed().cluster, policies_.sharing->jobs_per_gpu_max());
      !fits) {
    return fits;
  }
  // Before forecasts the same name could stand for another order.
  const auto is_same = [](const policy::PolicySet& of, const std::string& name, bool forecasts) {
    return name == of.name && forecasts == of.uses_forecasts;
  };
  const bool same_policy = is_same(policies_, image.policy, image.forecasts);
  const bool same_part =
      policies_.of_part && is_same(*policies_.of_part, image.part_policy, image.part_forecasts);
  state_.take_from(image, {.of_all = same_policy, .of_part = same_part});
  if (books_ && image.sharing) books_->restore(*image.sharing);
  disturbed_ = image.disturbed;
  decision_.at_ns = image.decided_at_ns;
  if (!same_policy) return {};
  next_review_ns_ = image.next_review_ns;
  next_migration_ns_ = image.next_migration_ns;
  return {};
}

}  // namespace goban::core::scheduler
