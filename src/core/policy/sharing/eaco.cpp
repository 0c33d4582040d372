// EaCO with our extensions (EaCO: beyond the paper, docs/papers.md): sharing must save energy;
// service targets must be met at the upper quantile until the set was measured, and are tested
// again at every join and leave; an undo costs time; groups have a minimum residence and jobs a
// cool-down; applications that failed together are kept apart; power limits use slack.
#include <algorithm>
#include <limits>

#include "base/check.hpp"
#include "core/policy/part.hpp"
#include "core/policy/sharing/benefit.hpp"
#include "core/policy/sharing/place_search.hpp"
#include "core/policy/sharing/power_caps.hpp"
#include "core/policy/sharing/worth.hpp"

namespace goban::core::policy {
namespace {

class Eaco final : public Sharing {
 public:
  Eaco(const PolicyOptions& options, ShareRanking ranking) : options_(options) {
    GOBAN_CHECK(options.limits.jobs_per_gpu_max >= 1 &&
                options.limits.jobs_per_gpu_max <= static_cast<int32_t>(kSetMax));
    rules_.ranking = ranking;
    rules_.admission = {
        .sharing = options.rules,
        .jobs_per_gpu_max = options.limits.jobs_per_gpu_max,
        .util_max_pct = options.limits.util_max_pct,
        .memory_known = true,
        .priority_alone = true,
        .broken_max = options.observation.broken_max,
        .min_residence_ns = base::from_seconds(options.observation.min_residence_s)};
    rules_.promises = {.upper = true,
                       .lost_bind = options.limits.lost_deadlines_bind,
                       .unknown_bind = false,
                       .worst_of_parts = true,
                       .max_slowdown = options.limits.max_slowdown};
    rules_.min_saving = options.prices.min_saving;
    rules_.delay_price_w = options.prices.delay_price_w;
    rules_.crowded_rates = options.prices.crowded_rates;
    rules_.joiner_extra_s = options.observation.undo_cost_s;
  }

  int32_t jobs_per_gpu_max() const override { return options_.limits.jobs_per_gpu_max; }
  ShareWhen when() const override { return ShareWhen::BeforeFree; }
  bool observes() const override { return true; }
  TimeNs observe_max_ns() const override {
    return base::from_seconds(options_.observation.observe_max_s);
  }
  bool spares_promises() const override { return options_.limits.spare_promises; }
  bool caps_power() const override { return options_.prices.power_caps; }

  std::optional<SharedPlace> choose(const SharingView& view, const JobState& job) const override {
    if (job.request.priority > 0) return {};
    const TimeNs undone_ns = view.memory().last_undo_ns(job.job);
    const TimeNs cool_ns = base::from_seconds(options_.observation.cool_down_s);
    if (undone_ns >= 0 && view.now() - undone_ns < cool_ns) return {};
    return find_place(view, job, rules_, buffer_);
  }

  std::optional<JobId> review(const SharingView& view, GroupId id, bool observed) const override {
    const Tenants::Group& group = view.tenants().group(id);
    if (group.jobs.size() < 2 || (group.locked && !observed)) return {};
    const TenantSet set(view, view.tenants().kind(group.kind).gpu_model, group.traits);
    const SetPrediction prediction = set.predict(view);
    const bool measured = prediction.level == knowledge::PredictionLevel::Measured;
    PromiseRules promises = rules_.promises;
    promises.upper = !measured;
    promises.worst_of_parts = false;
    const Situation now{view, id, group, set, prediction, promises};
    if (!residents_keep_promises(view, promises, id, {.set = &set, .prediction = &prediction})) {
      return who_leaves(now);
    }
    return measured && wasteful(now) ? std::optional(group.jobs.back()) : std::nullopt;
  }

  int8_t choose_cap(const SharingView& view, GroupId group) const override {
    return options_.prices.power_caps
               ? cap_into_slack(view, group,
                                delay_price_w(view, std::max(options_.prices.delay_price_w,
                                                             options_.prices.cap_price_w)))
               : int8_t{-1};
  }

 private:
  struct Situation {
    const SharingView& view;
    GroupId id;
    const Tenants::Group& group;
    const TenantSet& set;
    const SetPrediction& prediction;
    const PromiseRules& promises;
  };

  /// The job meets its target alone at this slowdown, including the cost of the undo.
  bool can_leave(const Situation& now, const JobState& job, double alone_slowdown) const {
    return keeps_promise(now.view, now.promises,
                         {.job = &job,
                          .alone_slowdown = alone_slowdown,
                          .beside = {1, 1},
                          .extra_s = options_.observation.undo_cost_s});
  }

  /// A target would be missed. Returns the latest job whose leaving meets all targets. If there is
  /// none, returns the last job, unless only its own target is missed, which leaving would not
  /// change.
  std::optional<JobId> who_leaves(const Situation& now) const {
    for (size_t i = now.group.jobs.size(); i-- > 0;) {
      const JobId leaving = now.group.jobs[i];
      const JobState& job = now.view.job(leaving);
      if (!can_leave(now, job, now.view.alone_slowdown(job))) continue;
      const TenantSet rest = now.set.without(i);
      const SetPrediction prediction = rest.predict(now.view);
      if (residents_keep_promises(now.view, now.promises, now.id,
                                  {.set = &rest, .prediction = &prediction, .leaving = leaving})) {
        return leaving;
      }
    }
    const JobId last = now.group.jobs.back();
    const bool only_his =
        residents_keep_promises(now.view, now.promises, now.id,
                                {.set = &now.set, .prediction = &now.prediction, .leaving = last});
    return only_his ? std::nullopt : std::optional(last);
  }

  /// By measurement, sharing with the last job costs more energy than separating it. It leaves only
  /// if it need not wait, because a wait could make it miss its target.
  bool wasteful(const Situation& now) const {
    const size_t last = now.set.size() - 1;
    const JobState& job = now.view.job(now.group.jobs[last]);
    if (now.view.someone_waits() || now.view.free_gpus() < job.request.num_gpus) return false;
    const TenantSet before = now.set.without(last);
    const SetPrediction before_prediction = before.predict(now.view);
    const auto gpus = static_cast<uint32_t>(now.group.gpus.size());
    const double saving = predicted_benefit(now.view, {.before = &before,
                                                       .before_prediction = &before_prediction,
                                                       .with = &now.set,
                                                       .with_prediction = &now.prediction,
                                                       .group_gpus = gpus,
                                                       .shared_gpus = gpus})
                              .saved_part;
    if (saving >= 0) return false;
    if (!can_leave(now, job, now.view.alone_slowdown_max(job))) return false;
    const double work_s = now.view.work_left_s(job);
    const double stays_s = work_s * now.view.alone_slowdown(job) * now.prediction.mean[last];
    return work_s < 0 || -saving * stays_s > options_.observation.undo_cost_s;
  }

  PolicyOptions options_;
  PlaceRules rules_;
  mutable std::vector<RankedKind> buffer_;
};

template <ShareRanking kRanking>
void put_eaco(PolicySet& set, const RunContext& /*run*/, const PolicyOptions& options) {
  set.sharing = std::make_unique<Eaco>(options, kRanking);
}

/// Defaults of share-worth, tuned on seeds other than those reported (docs/studies/goban.md).
void set_worth_defaults(PolicyOptions& options) {
  // The value of sharing is computed directly, so there is no limit on utilisation.
  options.limits.util_max_pct = std::numeric_limits<double>::infinity();
  options.prices.delay_price_w = 600;
  options.prices.crowded_rates = 1.5;
}

}  // namespace

extern const Part kEaco = {.kind = PartKind::Sharing,
                           .name = "share-eaco",
                           .description = "EaCO where it saves energy, with error margins",
                           .install = put_eaco<ShareRanking::Highest>,
                           .knowledge = KnowledgeUse::Required};

extern const Part kEacoSimilar = {.kind = PartKind::Sharing,
                                  .name = "share-eaco-similar",
                                  .description = "the same, most similar utilisation first",
                                  .install = put_eaco<ShareRanking::Similar>,
                                  .knowledge = KnowledgeUse::Required};

extern const Part kEacoComplementary = {.kind = PartKind::Sharing,
                                        .name = "share-eaco-complementary",
                                        .description = "the same, least similar utilisation first",
                                        .install = put_eaco<ShareRanking::Complementary>,
                                        .knowledge = KnowledgeUse::Required};

extern const Part kShareWorth = {
    .kind = PartKind::Sharing,
    .name = "share-worth",
    .description = "EaCO where the energy saved exceeds the price of delay",
    .install = put_eaco<ShareRanking::Worth>,
    .knowledge = KnowledgeUse::Optional,
    .set_defaults = set_worth_defaults};

}  // namespace goban::core::policy
