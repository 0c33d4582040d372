#include "core/policy/sharing/place_search.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "core/policy/sharing/benefit.hpp"
#include "core/policy/sharing/worth.hpp"

namespace goban::core::policy {
namespace {

/// A kind of groups with the job added.
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
  SetPrediction promised;  ///< with_prediction, or the worst over the subsets
  double worth_w = 0;
};

class Search {
 public:
  Search(const SharingView& view, const JobState& job, const PlaceRules& rules)
      : view_(view),
        job_(job),
        rules_(rules),
        joiner_(view.traits(job)),
        price_w_(delay_price_w(view, rules.delay_price_w)),
        num_gpus_(static_cast<uint32_t>(job.request.num_gpus)) {}

  std::optional<SharedPlace> find(std::vector<RankedKind>& buffer) const {
    const bool by_worth = rules_.ranking == ShareRanking::Worth;
    return by_worth ? find_worthiest(buffer) : find_first(buffer);
  }

 private:
  std::optional<SharedPlace> find_first(std::vector<RankedKind>& buffer) const {
    RankedKinds kinds(view_,
                      {.ranking = rules_.ranking,
                       .jobs_per_gpu_max = rules_.admission.jobs_per_gpu_max,
                       .util_max_pct = rules_.admission.util_max_pct},
                      joiner_, num_gpus_, buffer);
    while (const auto id = kinds.next()) {
      Offer offer(view_, view_.tenants().kind(*id), joiner_);
      if (!acceptable(offer) || !find_promised(offer)) continue;
      for (const GroupId group : offer.kind->groups) {
        if (fits(offer, group)) return SharedPlace{group, offer.with_prediction.level};
      }
    }
    return {};
  }

  std::optional<SharedPlace> find_worthiest(std::vector<RankedKind>& buffer) const {
    const auto by_key = [](const RankedKind& a, const RankedKind& b) {
      return a.key != b.key ? a.key < b.key : b.kind < a.kind;
    };
    collect_worth(buffer);
    for (std::ranges::make_heap(buffer, by_key); !buffer.empty(); buffer.pop_back()) {
      std::ranges::pop_heap(buffer, by_key);
      Offer offer(view_, view_.tenants().kind(buffer.back().kind), joiner_);
      GOBAN_CHECK(acceptable(offer));
      if (!find_promised(offer)) continue;
      for (const GroupId group : offer.kind->groups) {
        if (fits(offer, group)) return SharedPlace{group, offer.with_prediction.level};
      }
    }
    return {};
  }

  /// All kinds that the job may join, with the value of sharing.
  void collect_worth(std::vector<RankedKind>& out) const {
    out.clear();
    const Tenants& tenants = view_.tenants();
    for (uint32_t size = num_gpus_; size <= tenants.largest_size(); ++size) {
      for (const model::KindId id : tenants.kinds_of_size(size)) {
        const Tenants::Kind& kind = tenants.kind(id);
        const bool room =
            static_cast<int32_t>(kind.traits.size()) < rules_.admission.jobs_per_gpu_max;
        if (!room || (size != num_gpus_ && !kind.one_node)) continue;
        Offer offer(view_, kind, joiner_);
        if (acceptable(offer)) out.push_back({offer.worth_w, id});
      }
    }
  }

  bool acceptable(Offer& offer) const {
    if (refuse_set(view_, rules_.admission, offer.with) != Refusal::None) return false;
    offer.with_prediction = offer.with.predict(view_);
    if (!offer.with_prediction.packable()) return false;
    offer.before_prediction = offer.before.predict(view_);
    return !rules_.min_saving || saves(offer);
  }

  bool saves(Offer& offer) const {
    const double rates = offer.with_prediction.sum_of_rates();
    if (rates < 1) return false;
    const Benefit benefit = predicted_benefit(view_, {.before = &offer.before,
                                                      .before_prediction = &offer.before_prediction,
                                                      .with = &offer.with,
                                                      .with_prediction = &offer.with_prediction,
                                                      .group_gpus = offer.kind->num_gpus,
                                                      .shared_gpus = num_gpus_});
    offer.worth_w = benefit.saved_w - price_w_ * benefit.delay;
    if (benefit.saved_part < *rules_.min_saving) return false;
    if (rules_.delay_price_w == 0 || offer.worth_w > 0) return true;
    return rules_.crowded_rates > 0 && rates >= rules_.crowded_rates && crowded(view_);
  }

  /// Sets the slowdowns with which service targets are tested.
  bool find_promised(Offer& offer) const {
    offer.promised = rules_.promises.worst_of_parts
                         ? offer.with.worst_of_parts(view_, offer.with_prediction)
                         : offer.with_prediction;
    return offer.promised.packable();
  }

  bool fits(const Offer& offer, GroupId id) const {
    const Tenants::Group& group = view_.tenants().group(id);
    if (refuse_group(view_, rules_.admission, job_, group) != Refusal::None) return false;
    const Prospect joiner{
        .job = &job_,
        .alone_slowdown = view_.alone_slowdown(job_, std::span(group.gpus).first(num_gpus_)),
        .beside = offer.with.slowdown(offer.promised, joiner_.app),
        .extra_s = rules_.joiner_extra_s};
    if (!keeps_promise(view_, rules_.promises, joiner)) return false;
    const bool splits = offer.kind->num_gpus > num_gpus_;
    return residents_keep_promises(view_, rules_.promises, id,
                                   {.set = &offer.with,
                                    .prediction = &offer.promised,
                                    .stays_beside = splits ? &offer.before_prediction : nullptr});
  }

  const SharingView& view_;
  const JobState& job_;
  const PlaceRules& rules_;
  TenantTraits joiner_;
  double price_w_;
  uint32_t num_gpus_;
};

}  // namespace

std::optional<SharedPlace> find_place(const SharingView& view, const JobState& job,
                                      const PlaceRules& rules, std::vector<RankedKind>& buffer) {
  if (job.request.num_gpus <= 0) return {};
  return Search(view, job, rules).find(buffer);
}

}  // namespace goban::core::policy
