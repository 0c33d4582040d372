#include "core/scheduler/decision.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "core/policy/order/expected_left.hpp"

namespace goban::core::scheduler {

using policy::BackfillReservation;
using policy::Gap;
using policy::OrderKey;

namespace {

template <typename Id>
bool overlap(const std::vector<Id>& mine, const std::vector<Id>& theirs) {
  return std::ranges::any_of(mine,
                             [&](Id id) { return std::ranges::find(theirs, id) != theirs.end(); });
}

}  // namespace

DecisionBoard::DecisionBoard(State& state, const policy::PolicySet& policies, SharingBooks* books,
                             TimeNs now, uint64_t seed)
    : state_(state),
      of_all_(policies),
      policies_(&policies),
      books_(books),
      now_(now),
      seed_(seed) {}

bool DecisionBoard::full() const {
  return free_gpus() == 0 && state_.queue(whose_).count_without_gpus() == 0;
}

void DecisionBoard::enter(ReservationId whose) {
  whose_ = whose;
  policies_ = &of_all_.of(whose);
  tail_.clear();
  has_tail_ = false;
  expected_.clear();
  has_expected_ = false;
  reserved_ = {};
  typed_.reset();
}

HoldSpan DecisionBoard::hold_of(const JobState& job, TimeNs from) const {
  const TimeNs limit = job.request.walltime_limit_ns;
  return {from,
          limit > 0 ? base::add_saturating(from, limit - job.attained_ns(now_)) : base::kNever,
          job.job};
}

DecisionBoard::Job DecisionBoard::first() {
  for (;;) {
    const Job job = job_of(state_.queue(whose_).first());
    if (job == nullptr) return job;
    if (job->withheld) return after(job);
    if (within_limits(job)) return job;
  }
}

DecisionBoard::Job DecisionBoard::after(Job job) {
  OrderKey key = state_.queue_key(slot_of(job));
  for (;;) {
    job = job_of(state_.queue(whose_).after(key));
    if (job == nullptr) return job;
    if (job->withheld) {
      key = state_.queue_key(slot_of(job));
    } else if (within_limits(job)) {
      return job;
    }
  }
}

bool DecisionBoard::within_limits(Job job) {
  const Accounts::Node limit = state_.limit_on(*job);
  if (limit == Accounts::kNone) return true;
  state_.set_aside(slot_of(job), limit);
  return false;
}

DecisionBoard::Job DecisionBoard::after_fitting(Job job, const Gap& gap) {
  OrderKey key = state_.queue_key(slot_of(job));
  for (;;) {
    job = job_of(state_.queue(whose_).after_fitting(key, gap, marks_));
    if (job == nullptr || (!job->withheld && within_limits(job))) return job;
    key = state_.queue_key(slot_of(job));
  }
}

bool DecisionBoard::follows_by_more_than(Job job, Job later, int32_t count) const {
  if (state_.accounts().has_limits() || state_.num_withheld() > 0) return false;
  const auto most = static_cast<size_t>(count);
  return state_.queue(whose_).count(state_.queue_key(slot_of(job)),
                                    state_.queue_key(slot_of(later)), most) > most;
}

bool DecisionBoard::find(const JobState& job, Allocation& out) {
  if (books_ == nullptr || state_.elastic().has_one_model(job)) return find_free(job, out);
  const bool first = policies_->sharing->when() == policy::ShareWhen::BeforeFree;
  return first ? books_->choose(job, out) || find_free(job, out)
               : find_free(job, out) || books_->choose(job, out);
}

void DecisionBoard::share_behind(int32_t depth) {
  for (Job job = first(); job != nullptr && depth > 0; job = after(job), --depth) {
    Allocation allocation;
    if (!state_.elastic().has_one_model(*job) && books_->choose(*job, allocation))
      commit(*job, std::move(allocation));
  }
}

bool DecisionBoard::find_free(const JobState& job, Allocation& out) {
  Resources& resources = state_.resources();
  if (job.request.num_gpus > resources.free_gpus()) return false;
  return find_in(resources, job, now_, placement_seed(seed_, job.job, now_), out);
}

bool DecisionBoard::find_in(Resources& resources, const JobState& job, TimeNs from, uint64_t seed,
                            Allocation& out) const {
  HoldSpan hold = hold_of(job, from);
  if (!state_.elastic().has_one_model(job)) return resources.find(job.request, hold, seed, out);
  std::vector<uint32_t> models = state_.elastic().models_of(job);
  // The model that it was planned with; else any on which it runs.
  if (std::ranges::find(models, job.gpu_model) != models.end() && policies_->size->decides()) {
    models = {job.gpu_model};
  }
  return std::ranges::any_of(models, [&](uint32_t gpu_model) {
    hold.gpu_model = gpu_model;
    return resources.find(job.request, hold, seed, out);
  });
}

void DecisionBoard::commit(const JobState& job, Allocation allocation) {
  GOBAN_CHECK(may_start(&job), "a hard limit is exceeded");
  const Slot slot = slot_of(&job);
  const bool joins = allocation.reason.prediction != 0;
  state_.start(slot, std::move(allocation), now_);
  // Locked at once: no other job may join in this decision.
  if (joins) books_->begin(job.job, state_.tenants());
  if (books_ != nullptr) books_->started(job.job);
  marks_.forget_long();
  started_.push_back(slot);
}

bool DecisionBoard::find_or_mark(const JobState& job, Allocation& out) {
  if (find(job, out)) return true;
  // Mark shapes that cannot be placed although enough GPUs are free. With maintenance windows
  // ahead, a shorter job of the same shape may still fit.
  const bool enough = job.request.num_gpus <= free_gpus() && !state_.elastic().has_one_model(job);
  if (books_ == nullptr && enough && !state_.resources().has_windows()) {
    marks_.set(state_.shape(job), ShapeMarks::Mark::Skip);
  }
  return false;
}

bool DecisionBoard::start(Job job) {
  Allocation allocation;
  if (!find_or_mark(*job, allocation)) return false;
  commit(*job, std::move(allocation));
  return true;
}

bool DecisionBoard::start_in_gap(Job job, Gap& gap) {
  Allocation allocation;
  if (!find_or_mark(*job, allocation)) return false;
  const policy::SpeedModel& speed = state_.speed();
  const double slowdown = speed.slowdown(job->request, allocation.gpus);
  if (state_.duration_ns(*job, slowdown, now_) > gap.duration_ns) {
    if (job->request.num_gpus > gap.spare_gpus) {
      // Until a job starts, equal jobs would get the same GPUs.
      const bool gets_the_same = books_ == nullptr && policies_->placement->repeatable() &&
                                 !state_.resources().has_windows();
      if (gap.by_slowdown && gets_the_same && state_.scales(*job)) {
        marks_.set_share(state_.shape(*job), state_.lowest_slowdown(*job) / slowdown);
      }
      return false;
    }
    if (!leaves_reserved(*job, allocation)) {
      // Jobs with the same request would get the same result until a job starts.
      if (books_ == nullptr && policies_->placement->repeatable()) {
        marks_.set(state_.shape(*job), ShapeMarks::Mark::SkipLong);
      }
      return false;
    }
    gap.spare_gpus -= job->request.num_gpus;
  }
  commit(*job, std::move(allocation));
  return true;
}

bool DecisionBoard::leaves_reserved(const JobState& job, const Allocation& allocation) {
  if (typed_) return typed_->admit(job.request, allocation);
  return !overlap(allocation.gpus, reserved_.gpus) && !overlap(allocation.hosts, reserved_.hosts);
}

void DecisionBoard::release(Slot slot, const OrderKey& key) {
  Allocation allocation = state_.stop(slot, now_);
  released_.push_back({slot, key, std::move(allocation)});
  marks_.clear();
}

bool DecisionBoard::stays(const JobState& job) const {
  const bool relaunched = job.starts > 1;
  return job.request.stays || (relaunched && now_ - job.run_start_ns < policies_->hold_ns);
}

void DecisionBoard::release_all() {
  std::vector<std::pair<OrderKey, Slot>> order;
  for (const State::Running& running : state_.running()) {
    const JobState& job = state_.job(running.slot);
    if (stays(job) || state_.policies_of(job).preemption != policy::Preemption::NonSticky) continue;
    order.emplace_back(state_.key(job, now_), running.slot);
  }
  std::ranges::sort(order);
  for (const auto& [key, slot] : order) release(slot, key);
}

void DecisionBoard::resize(std::span<const SizeChange> changes) {
  const size_t first = released_.size();
  std::vector<const SizeChange*> stopped;
  for (const SizeChange& change : changes) {
    const JobState& job = state_.job(change.slot);
    if (job.phase != model::JobPhase::Running) continue;
    release(change.slot, state_.key(job, now_));
    stopped.push_back(&change);
  }
  for (const SizeChange& change : changes) {
    if (state_.job(change.slot).elastic) set_size_within_limits(change);
    state_.set_withheld(change.slot, change.waits);
  }
  std::vector<size_t> order;
  for (size_t i = 0; i < stopped.size(); ++i) {
    if (!stopped[i]->waits) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](size_t i) { return stopped[i]->size.gpus; });
  for (const size_t i : order) start_resized(*stopped[i], released_[first + i].allocation);
}

void DecisionBoard::set_size_within_limits(const SizeChange& change) {
  const JobState& job = state_.job(change.slot);
  state_.set_size(change.slot, change.size, now_);
  const auto levels = state_.elastic().levels(job, change.size.gpu_model);
  for (auto level = levels.rbegin(); level != levels.rend() && !may_start(&job); ++level) {
    if (level->gpus >= change.size.gpus) continue;
    state_.set_size(change.slot, {.gpus = level->gpus, .gpu_model = change.size.gpu_model}, now_);
  }
}

bool DecisionBoard::start_on(Slot slot, policy::Size size, Allocation allocation) {
  const JobState& job = state_.job(slot);
  state_.set_size(slot, size, now_);
  if (!may_start(&job) || !state_.resources().can_take(job.request, allocation)) return false;
  commit(job, std::move(allocation));
  return true;
}

void DecisionBoard::start_resized(const SizeChange& change, const Allocation& before) {
  const Slot slot = change.slot;
  const JobState& job = state_.job(slot);
  const model::Cluster& cluster = *state_.speed().cluster;
  const policy::Size former{
      .gpus = static_cast<int32_t>(before.gpus.size()),
      .gpu_model = cluster.node(cluster.node_of(before.gpus.front())).gpu_model};
  // It has its GPUs for itself, whoever was there when it started.
  Allocation own = before;
  own.reason.prediction = 0;
  const auto place = [&](policy::Size size) {
    state_.set_size(slot, size, now_);
    Allocation allocation;
    return may_start(&job) && find_free(job, allocation) &&
           start_on(slot, size, std::move(allocation));
  };
  if (place(change.size)) return;
  if (change.size.gpu_model == former.gpu_model && change.size.gpus < former.gpus) {
    Allocation part = own;
    part.gpus.resize(static_cast<size_t>(change.size.gpus));
    if (start_on(slot, change.size, std::move(part))) return;
  }
  if (start_on(slot, former, std::move(own))) return;
  const auto levels = state_.elastic().levels(job, change.size.gpu_model);
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    if (level->gpus >= change.size.gpus) continue;
    if (place({.gpus = level->gpus, .gpu_model = change.size.gpu_model})) return;
  }
  state_.set_size(slot, change.size, now_);
}

void DecisionBoard::build_tail() {
  if (has_tail_) return;
  has_tail_ = true;
  for (const State::Running& running : state_.running()) {
    const JobState& job = state_.job(running.slot);
    if (job.run_start_ns == now_ && std::ranges::find(started_, running.slot) != started_.end()) {
      continue;
    }
    if (stays(job) || job.request.reservation != whose_) continue;
    const int32_t gpus = gpus_here(running.slot);
    if (gpus == 0 && job.request.num_gpus > 0) continue;  // its GPUs are for others
    tail_.push_back({state_.key(job, now_), running.slot, gpus});
  }
  std::ranges::make_heap(tail_, {}, &Evictable::key);
}

void DecisionBoard::keep_in_tail(const Evictable& each) {
  tail_.push_back(each);
  std::ranges::push_heap(tail_, {}, &Evictable::key);
}

bool DecisionBoard::gives_way(const Evictable& each, const JobState& job) {
  const bool by_priority = policies_->preemption == policy::Preemption::ByPriority;
  return each.key > state_.queue_key(state_.slot_of(job.job)) &&
         (!by_priority || state_.job(each.slot).request.priority < job.request.priority) &&
         (!policies_->price.asked || pays(state_.job(each.slot), job));
}

TimeNs DecisionBoard::expected_wait_ns(const JobState& job) {
  if (!has_expected_) {
    has_expected_ = true;
    for (const State::Running& running : state_.running()) {
      const JobState& each = state_.job(running.slot);
      expected_.push_back({policy::expected_left_ns(each, now_), gpus_here(running.slot)});
    }
    std::ranges::sort(expected_, {}, &Expected::left_ns);
  }
  int64_t free = free_gpus();
  for (const Expected& each : expected_) {
    if (free >= job.request.num_gpus) return 0;
    free += each.gpus;
    if (free >= job.request.num_gpus) return each.left_ns;
  }
  return base::kNever;
}

bool DecisionBoard::pays(const JobState& victim, const JobState& job) {
  /// What the victim loses must be less than this share of what it still has to run.
  constexpr int64_t kShare = 4;
  constexpr TimeNs kWaitedLong_ns = base::kDay;
  const TimeNs waited = now_ - job.waiting_since_ns;
  const bool precedes = job.request.priority > victim.request.priority;
  // A promised start keeps jobs from starving. Where nothing can be promised, patience ends.
  const bool starves = !state_.head_promise(whose_).job.valid() && waited >= kWaitedLong_ns;
  if (precedes || starves) return true;
  const policy::PreemptionPrice& price = policies_->price;
  TimeNs cost = base::add_saturating(price.restart_ns, policy::expected_left_ns(job, now_));
  if (price.checkpoint_ns > 0) {
    cost = base::add_saturating(cost, (now_ - victim.run_start_ns) % price.checkpoint_ns);
  }
  if (cost > policy::expected_left_ns(victim, now_) / kShare) return false;
  // Jobs ahead of it may take what becomes free: who has waited for long is expected to go on.
  return cost <= std::max(expected_wait_ns(job), waited);
}

bool DecisionBoard::spared(const JobState& job) const {
  return policies_->sharing->spares_promises() &&
         policies_->preemption != policy::Preemption::ByPriority && books_->can_keep_promise(job);
}

bool DecisionBoard::make_room_by_trial(const JobState& job) {
  Resources trial = state_.resources();
  Allocation found;
  std::vector<Evictable> asked;  // last in order first
  std::vector<Evictable> spare;
  bool fits = false;
  while (!fits && !tail_.empty() && gives_way(tail_.front(), job)) {
    std::ranges::pop_heap(tail_, {}, &Evictable::key);
    const Evictable last = tail_.back();
    tail_.pop_back();
    if (spared(state_.job(last.slot))) {
      spare.push_back(last);
      continue;
    }
    asked.push_back(last);
    trial.give(state_.job(asked.back().slot).request, state_.allocation(asked.back().slot));
    fits = job.request.num_gpus <= trial.free_gpus() &&
           find_in(trial, job, now_, placement_seed(seed_, job.job, now_), found);
  }
  for (const Evictable& each : spare) keep_in_tail(each);
  for (const Evictable& each : asked) {
    const bool in_the_way =
        job.request.resource_type.valid() || overlap(state_.allocation(each.slot).gpus, found.gpus);
    if (fits && in_the_way) {
      release(each.slot, each.key);
    } else {
      keep_in_tail(each);
    }
  }
  if (fits) commit(job, std::move(found));
  return fits;
}

bool DecisionBoard::make_room_and_start(Job job) {
  // The job can wait for a node to wake instead.
  const NodePower& nodes = state_.node_power();
  const auto is_drained = [&](model::NodeId node) {
    return state_.resources().usable_until_ns(node) <= now_;
  };
  if (nodes.num_waking() > 0 || nodes.may_wake(is_drained)) return false;
  build_tail();
  if (books_ != nullptr) return make_room_by_trial(*job);
  if (!policies_->evict_in_vain) {
    int64_t room = free_gpus();
    for (const Evictable& each : tail_) room += gives_way(each, *job) ? each.gpus : 0;
    if (room < job->request.num_gpus) return false;
  }
  const size_t released_before = released_.size();
  while (!tail_.empty() && gives_way(tail_.front(), *job)) {
    const Evictable last = tail_.front();
    std::ranges::pop_heap(tail_, {}, &Evictable::key);
    tail_.pop_back();
    release(last.slot, last.key);
    if (free_gpus() >= job->request.num_gpus && start(job)) return true;
  }
  if (policies_->evict_in_vain) return false;
  // The job does not fit even so: restore the released jobs.
  while (released_.size() > released_before) {
    Released& back = released_.back();
    state_.start(back.slot, std::move(back.allocation), now_);
    keep_in_tail({back.key, back.slot, gpus_here(back.slot)});
    released_.pop_back();
  }
  return false;
}

TimeNs DecisionBoard::estimate_ns(Job job) const { return state_.duration_ns(*job, 1.0, now_); }

BackfillReservation DecisionBoard::earliest_start(Job job) {
  const Resources& resources = state_.resources();
  const bool some_found = !state_.found().empty();
  const auto type = job->request.resource_type;
  // How many nodes have the same GPUs free cannot be counted.
  const bool counts = type.valid() && !resources.cluster().resource_type(type).equal_indices;
  typed_.reset();
  if (counts && !resources.has_windows() && !some_found) {
    typed_.emplace(state_, *job, now_);
    // Jobs that do not use the reserved room may run longer.
    return {typed_->start_ns(), std::numeric_limits<int32_t>::max()};
  }
  if (!policies_->fungible || books_ != nullptr || some_found ||
      state_.elastic().has_one_model(*job) || resources.restricted(job->request)) {
    return reserve_by_trial(*job);
  }
  BackfillReservation reservation;
  int32_t free = free_gpus();
  for (auto end = state_.ends().begin(); end != state_.ends().end() && end->first != base::kNever;
       ++end) {
    if (free >= job->request.num_gpus && end->first > reservation.start_ns) break;
    free += gpus_here(end->second);
    if (free >= job->request.num_gpus && reservation.start_ns == base::kNever) {
      reservation.start_ns = end->first;
    }
  }
  if (reservation.start_ns != base::kNever) {
    reservation.start_ns = std::max(reservation.start_ns, now_);
    reservation.spare_gpus = free - job->request.num_gpus;
  }
  return reservation;
}

std::vector<DecisionBoard::End> DecisionBoard::ends() const {
  std::vector<End> out;
  for (const auto& [end, slot] : state_.ends()) out.push_back({.at_ns = end, .slot = slot});
  for (const auto& [holder, found] : state_.found()) {
    out.push_back({.at_ns = found.until_ns, .found = &found});
  }
  if (!state_.found().empty()) std::ranges::stable_sort(out, {}, &End::at_ns);
  return out;
}

BackfillReservation DecisionBoard::reserve_by_trial(const JobState& job) {
  Resources trial = state_.resources();
  const auto fits = [&](TimeNs start) {
    return trial.free_gpus() >= job.request.num_gpus &&
           find_in(trial, job, start, seed_, reserved_);
  };
  // Jobs that do not use the reserved GPUs may run longer.
  constexpr int32_t kAnyNumber = std::numeric_limits<int32_t>::max();
  // Nodes become available when their jobs end, and when reservations start and end.
  const std::vector<TimeNs> changes = trial.promised().changes_after(now_);
  auto change = changes.begin();
  for (const End& each : ends()) {
    const TimeNs end = each.at_ns;
    if (end == base::kNever) break;
    for (; change != changes.end() && *change < end; ++change) {
      if (fits(*change)) return {*change, kAnyNumber};
    }
    if (each.found != nullptr) {
      trial.give_found(*each.found);
    } else {
      trial.give(state_.job(each.slot).request, state_.allocation(each.slot));
    }
    const TimeNs start = std::max(end, now_);
    if (fits(start)) return {start, kAnyNumber};
  }
  for (; change != changes.end(); ++change) {
    if (fits(*change)) return {*change, kAnyNumber};
  }
  return {};
}

DecisionBoard::Job DecisionBoard::promised() {
  const HeadPromise& promise = state_.head_promise(whose_);
  if (!promise.job.valid() || !state_.is_active(promise.job)) return nullptr;
  const Slot slot = state_.slot_of(promise.job);
  if (state_.job(slot).phase != model::JobPhase::Waiting || state_.job(slot).withheld) {
    return nullptr;
  }
  if (state_.queue(whose_).find(state_.queue_key(slot)) == nullptr) return nullptr;
  return &state_.job(slot);
}

bool DecisionBoard::counts_suffice(const JobState& job) const {
  return books_ == nullptr && policies_->fungible && state_.found().empty() &&
         !job.request.resource_type.valid() && !state_.elastic().has_one_model(job) &&
         !state_.resources().restricted(job.request);
}

void DecisionBoard::promise(Job job) {
  if (!state_.keeps_head_promise(whose_)) return;
  state_.set_head_promise({}, whose_);
  if (!counts_suffice(*job)) return;
  const BackfillReservation reserved = earliest_start(job);
  if (reserved.start_ns != base::kNever) {
    state_.set_head_promise({job->job, reserved.start_ns}, whose_);
  }
}

BackfillReservation DecisionBoard::promised_start(Job job) {
  if (books_ != nullptr) return {};
  const HeadPromise promise = state_.head_promise(whose_);
  const bool is_promised = promise.job.valid() && promise.job == job->job;
  if (!is_promised || !counts_suffice(*job)) return earliest_start(job);
  BackfillReservation reservation{.start_ns = std::max(promise.at_ns, now_)};
  int32_t free = free_gpus();
  for (const auto& [end, slot] : state_.ends()) {
    if (end > reservation.start_ns) break;
    free += gpus_here(slot);
  }
  reservation.spare_gpus = std::max(free - job->request.num_gpus, 0);
  return reservation;
}

bool DecisionBoard::start_in_gap_or_make_room(Job job, Gap& gap) {
  if (job->request.num_gpus <= free_gpus()) return start_in_gap(job, gap);
  const bool short_enough = state_.duration_ns(*job, 1, now_) <= gap.duration_ns;
  if (!short_enough && job->request.num_gpus > gap.spare_gpus) return false;
  build_tail();
  if (tail_.empty() || tail_.front().key < state_.queue_key(slot_of(job))) return false;
  if (!make_room_and_start(job)) return false;
  if (!short_enough) gap.spare_gpus -= job->request.num_gpus;
  return true;
}

void DecisionBoard::visit_ends(const std::function<void(TimeNs, int32_t)>& visit) {
  for (const End& each : ends()) {
    if (each.found != nullptr) {
      if (!whose_.valid()) {
        visit(std::max(each.at_ns, now_), static_cast<int32_t>(each.found->gpus.size()));
      }
      continue;
    }
    const bool is_ours = state_.job(each.slot).request.reservation == whose_;
    const int32_t gpus = gpus_here(each.slot);
    if (is_ours || gpus > 0) visit(std::max(each.at_ns, now_), gpus);
  }
}

}  // namespace goban::core::scheduler
