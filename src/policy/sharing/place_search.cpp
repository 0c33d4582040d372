#include "policy/sharing/place_search.hpp"

#include "policy/sharing/benefit.hpp"

namespace goban::policy {
namespace {

/// A kind of groups with the job among them.
struct Offer {
  Offer(const SharingView& view, const Tenants::Kind& of, const TenantTraits& joiner)
      : kind(&of), before(view, of.gpu_model, of.traits), with(before) {
    with.add(joiner);
  }
  const Tenants::Kind* kind;
  TenantSet before;
  TenantSet with;
  SetPrediction before_prediction;
  SetPrediction with_prediction;
};

class Search {
 public:
  Search(const SharingView& view, const JobState& job, const PlaceRules& rules)
      : view_(view),
        job_(job),
        rules_(rules),
        joiner_(view.traits(job)),
        num_gpus_(static_cast<uint32_t>(job.request.num_gpus)) {}

  std::optional<SharedPlace> find(std::vector<RankedKind>& buffer) const {
    RankedKinds kinds(view_,
                      {.ranking = rules_.ranking,
                       .jobs_per_gpu_max = rules_.admission.jobs_per_gpu_max,
                       .util_max_pct = rules_.admission.util_max_pct},
                      joiner_, num_gpus_, buffer);
    while (const auto id = kinds.next()) {
      Offer offer(view_, view_.tenants().kind(*id), joiner_);
      if (!acceptable(offer)) continue;
      for (const GroupId group : offer.kind->groups) {
        if (fits(offer, group)) return SharedPlace{group, offer.with_prediction.level};
      }
    }
    return {};
  }

 private:
  bool acceptable(Offer& offer) const {
    if (refuse_set(view_, rules_.admission, offer.with) != Refusal::None) return false;
    offer.with_prediction = offer.with.predict(view_);
    if (!offer.with_prediction.packable()) return false;
    offer.before_prediction = offer.before.predict(view_);
    if (!rules_.min_saving) return true;
    return offer.with_prediction.sum_of_rates() >= 1 &&
           predicted_saving(view_, {.before = &offer.before,
                                    .before_prediction = &offer.before_prediction,
                                    .with = &offer.with,
                                    .with_prediction = &offer.with_prediction,
                                    .group_gpus = offer.kind->num_gpus,
                                    .shared_gpus = num_gpus_}) >= *rules_.min_saving;
  }

  bool fits(const Offer& offer, GroupId id) const {
    const Tenants::Group& group = view_.tenants().group(id);
    if (refuse_group(view_, rules_.admission, job_, group) != Refusal::None) return false;
    const Prospect joiner{
        .job = &job_,
        .alone_slowdown = view_.alone_slowdown(job_, std::span(group.gpus).first(num_gpus_)),
        .beside = offer.with.slowdown(offer.with_prediction, joiner_.app),
        .extra_s = rules_.joiner_extra_s};
    if (!keeps_promise(view_, rules_.promises, joiner)) return false;
    const bool splits = offer.kind->num_gpus > num_gpus_;
    return residents_keep_promises(view_, rules_.promises, id,
                                   {.set = &offer.with,
                                    .prediction = &offer.with_prediction,
                                    .stays_beside = splits ? &offer.before_prediction : nullptr});
  }

  const SharingView& view_;
  const JobState& job_;
  const PlaceRules& rules_;
  TenantTraits joiner_;
  uint32_t num_gpus_;
};

}  // namespace

std::optional<SharedPlace> find_place(const SharingView& view, const JobState& job,
                                      const PlaceRules& rules, std::vector<RankedKind>& buffer) {
  if (job.request.num_gpus <= 0) return {};
  return Search(view, job, rules).find(buffer);
}

}  // namespace goban::policy
