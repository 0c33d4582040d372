// A decision in progress: when a waiting job can start at the latest.
#include <algorithm>

#include "core/scheduler/decision.hpp"

namespace goban::core::scheduler {

using policy::BackfillReservation;

namespace {

/// As earliest_start(), if who has outrun his forecast goes on for half as long as he has run: what
/// is promised with a bound is kept at his expense, and two jobs that nobody can predict would
/// otherwise take GPUs from each other for ever.
TimeNs start_that_lasts(const State& state, const JobState& job, ReservationId whose, TimeNs now) {
  constexpr TimeNs kShare = 2;
  std::vector<std::pair<TimeNs, int32_t>> leaving;
  for (const auto& [end, slot] : state.ends()) {
    if (end == base::kNever) continue;
    const TimeNs attained = state.job(slot).attained_ns(now);
    leaving.emplace_back(end > now ? end : now + attained / kShare,
                         state.gpus_within(slot, whose, now));
  }
  std::ranges::sort(leaving);
  int64_t free = state.resources().free_gpus(whose, now);
  for (const auto& [end, gpus] : leaving) {
    free += gpus;
    if (free >= job.request.num_gpus) return end;
  }
  return base::kNever;
}

}  // namespace

TimeNs DecisionBoard::estimate_ns(Job job) const { return state_.duration_ns(*job, 1.0, now_); }

BackfillReservation DecisionBoard::earliest_start(Job job) {
  const Resources& resources = state_.resources();
  const bool some_found = !state_.found().empty();
  const auto type = job->request.resource_type;
  // How many nodes have the same GPUs free cannot be counted.
  const auto counted = [&](const model::ResourceType& kind) {
    return !kind.equal_indices && kind.indices.empty();
  };
  const bool counts = type.valid() && counted(resources.cluster().resource_type(type));
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
  TimeNs at_ns = reserved.start_ns;
  if (policies_->late_bound_ns > 0) at_ns = start_that_lasts(state_, *job, whose_, now_);
  if (at_ns != base::kNever) state_.set_head_promise({job->job, at_ns}, whose_);
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
