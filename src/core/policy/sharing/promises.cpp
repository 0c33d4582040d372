#include "core/policy/sharing/promises.hpp"

#include <algorithm>

namespace goban::core::policy {
namespace {

/// Tolerance for rounding: a target is missed only by more than this.
constexpr double kLost_s = 1e-3;

/// Time for the remaining work alone; negative = unknown.
double left_alone_s(const SharingView& view, const JobState& job, double alone_slowdown) {
  const double work_s = view.work_left_s(job);
  return work_s < 0 ? -1 : work_s * alone_slowdown;
}

bool promised(const JobState& job) {
  return job.training.deadline_ns >= 0 || job.training.max_slowdown > 0;
}

/// Duration of the whole job alone, at the speed assumed for the remaining work.
double whole_s(const SharingView& view, const JobState& job, double left_s) {
  const double total_s = view.work_total_s(job);
  const double work_s = view.work_left_s(job);
  if (total_s >= 0 && work_s > 0) return total_s * left_s / work_s;
  const double ran_s = base::to_seconds(job.attained_ns(view.now()));
  const double past = std::max(1.0, slowdown_elsewhere(view, job.job).upper);
  return left_s + ran_s / past;
}

/// Submission + maximum slowdown x duration of the whole job alone.
TimeNs slowdown_end_ns(const SharingView& view, const JobState& job, double left_s) {
  const double allowed_s =
      static_cast<double>(job.training.max_slowdown) * whole_s(view, job, left_s);
  if (allowed_s > base::kMaxSeconds) return base::kNever;
  return base::add_saturating(job.request.submit_ns, base::from_seconds(allowed_s));
}

uint32_t gpu_model_of(const Tenants& tenants, const Tenants::Group& group) {
  return tenants.kind(group.kind).gpu_model;
}

}  // namespace

TimeNs promised_end_ns(const SharingView& view, const JobState& job, double left_s) {
  TimeNs end = base::kNever;
  if (job.training.deadline_ns >= 0) {
    end = base::add_saturating(job.request.submit_ns, job.training.deadline_ns);
  }
  if (job.training.max_slowdown > 0 && left_s >= 0) {
    end = std::min(end, slowdown_end_ns(view, job, left_s));
  }
  return end;
}

std::optional<double> slack_s(const SharingView& view, const Prospect& prospect) {
  const double left_s = left_alone_s(view, *prospect.job, prospect.alone_slowdown);
  if (left_s < 0) return {};
  const TimeNs end = promised_end_ns(view, *prospect.job, left_s);
  if (end == base::kNever) return {};
  const double slack = base::to_seconds(end - view.now()) - left_s;
  return slack < 0 ? std::nullopt : std::optional(slack);
}

bool keeps_promise(const SharingView& view, const PromiseRules& rules, const Prospect& prospect) {
  const JobState& job = *prospect.job;
  const bool bearable = prospect.beside.mean <= rules.max_slowdown;
  if (!promised(job)) return bearable;
  const double left_s = left_alone_s(view, job, prospect.alone_slowdown);
  const double slowdown = rules.upper ? prospect.beside.upper : prospect.beside.mean;
  if (left_s < 0) {
    const float bound = job.training.max_slowdown;
    return !rules.unknown_bind && bearable && (bound <= 0 || slowdown <= bound);
  }
  const TimeNs end = promised_end_ns(view, job, left_s);
  if (end == base::kNever) return bearable;
  const double until_end_s = base::to_seconds(end - view.now());
  if (left_s > until_end_s + kLost_s && !rules.lost_bind) return bearable;
  return left_s * slowdown + prospect.extra_s <= until_end_s;
}

Slowdown slowdown_elsewhere(const SharingView& view, JobId job, model::GroupId except,
                            bool worst_of_parts) {
  const Tenants& tenants = view.tenants();
  Slowdown worst;
  for (const GroupId id : tenants.groups_of(job)) {
    if (id == except) continue;
    const Tenants::Group& group = tenants.group(id);
    const uint32_t gpu_model = gpu_model_of(tenants, group);
    const TenantSet set(view, gpu_model, group.traits);
    const auto at = std::ranges::find(group.jobs, job) - group.jobs.begin();
    SetPrediction prediction = set.predict(view);
    if (worst_of_parts) prediction = set.worst_of_parts(view, prediction);
    const Slowdown here = set.slowdown(prediction, set.apps()[static_cast<size_t>(at)]);
    worst = slower(worst, here * cap_time_factor(view, gpu_model, group.cap));
  }
  return worst;
}

bool residents_keep_promises(const SharingView& view, const PromiseRules& rules, GroupId id,
                             const GroupChange& change) {
  const Tenants& tenants = view.tenants();
  const Tenants::Group& group = tenants.group(id);
  for (size_t i = 0; i < group.jobs.size(); ++i) {
    if (group.jobs[i] == change.leaving) continue;
    const JobState& job = view.job(group.jobs[i]);
    const AppId app = tenants.traits(group.traits[i]).app;
    Slowdown beside = change.set->slowdown(*change.prediction, app) * change.time_factor;
    if (tenants.groups_of(job.job).size() > 1) {
      beside = slower(beside, slowdown_elsewhere(view, job.job, id, rules.worst_of_parts));
    }
    if (change.stays_beside != nullptr) {
      const TenantSet stay(view, change.set->gpu_model(), group.traits);
      beside = slower(beside, stay.slowdown(*change.stays_beside, app));
    }
    const Prospect prospect{
        .job = &job, .alone_slowdown = view.alone_slowdown(job), .beside = beside};
    if (!keeps_promise(view, rules, prospect)) return false;
  }
  return true;
}

double cap_time_factor(const SharingView& view, uint32_t gpu_model, int8_t cap) {
  const knowledge::PowerModel* model = power_model(view, gpu_model);
  if (cap < 0 || model == nullptr || static_cast<size_t>(cap) >= model->caps.size()) return 1;
  return model->caps[static_cast<size_t>(cap)].time_factor;
}

}  // namespace goban::core::policy
