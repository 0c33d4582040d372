#include "core/scheduler/decision.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace goban::core::scheduler {

using policy::Gap;
using policy::OrderKey;

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

void DecisionBoard::release_all() {
  std::vector<std::pair<OrderKey, Slot>> order;
  for (const Running& running : state_.running()) {
    const JobState& job = state_.job(running.slot);
    if (stays(job) || state_.policies_of(job).preemption != policy::Preemption::NonSticky) continue;
    order.emplace_back(state_.key(job, now_), running.slot);
  }
  std::ranges::sort(order);
  for (const auto& [key, slot] : order) release(slot, key);
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

}  // namespace goban::core::scheduler
