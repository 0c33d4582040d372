// EaCO with the semantics of its paper (Haghshenas and Hashemi, arXiv 2412.08294; EaCO: algorithm,
// docs/papers.md): the group with the highest utilisation on which all deadlines are met at the
// expected slowdowns. After an epoch of observation the deadlines are tested once more, and the
// last job leaves if one would be missed. No benefit test, no margin for errors, no later reviews.
#include "base/check.hpp"
#include "core/policy/part.hpp"
#include "core/policy/sharing/place_search.hpp"

namespace goban::core::policy {
namespace {

class EacoPaper final : public Sharing {
 public:
  EacoPaper(const PolicyOptions& options, ShareRanking ranking)
      : observe_max_ns_(base::from_seconds(options.observation.observe_max_s)) {
    GOBAN_CHECK(options.limits.jobs_per_gpu_max >= 1 &&
                options.limits.jobs_per_gpu_max <= static_cast<int32_t>(kSetMax));
    rules_.ranking = ranking;
    rules_.admission = {.sharing = options.rules,
                        .jobs_per_gpu_max = options.limits.jobs_per_gpu_max,
                        .util_max_pct = options.limits.util_max_pct,
                        .priority_alone = true};
    rules_.promises.lost_bind = options.limits.lost_deadlines_bind;
  }

  int32_t jobs_per_gpu_max() const override { return rules_.admission.jobs_per_gpu_max; }
  ShareWhen when() const override { return ShareWhen::BeforeFree; }
  bool observes() const override { return true; }
  TimeNs observe_max_ns() const override { return observe_max_ns_; }

  std::optional<SharedPlace> choose(const SharingView& view, const JobState& job) const override {
    if (job.request.priority > 0) return {};
    return find_place(view, job, rules_, buffer_);
  }

  std::optional<JobId> review(const SharingView& view, GroupId id, bool observed) const override {
    const Tenants::Group& group = view.tenants().group(id);
    if (!observed || group.jobs.size() < 2) return {};
    const TenantSet set(view, view.tenants().kind(group.kind).gpu_model, group.traits);
    const SetPrediction prediction = set.predict(view);
    if (residents_keep_promises(view, rules_.promises, id,
                                {.set = &set, .prediction = &prediction})) {
      return {};
    }
    return group.jobs.back();
  }

 private:
  PlaceRules rules_;
  TimeNs observe_max_ns_;
  mutable std::vector<RankedKind> buffer_;
};

template <ShareRanking kRanking>
void put_eaco_paper(PolicySet& set, const RunContext& /*run*/, const PolicyOptions& options) {
  set.sharing = std::make_unique<EacoPaper>(options, kRanking);
}

}  // namespace

extern const Part kEacoPaper = {
    .kind = PartKind::Sharing,
    .name = "share-eaco-paper",
    .description = "EaCO: the most utilised GPUs on which all deadlines hold",
    .install = put_eaco_paper<ShareRanking::Highest>,
    .knowledge = KnowledgeUse::Required};

extern const Part kEacoPaperSimilar = {.kind = PartKind::Sharing,
                                       .name = "share-eaco-paper-similar",
                                       .description = "the same, most similar utilisation first",
                                       .install = put_eaco_paper<ShareRanking::Similar>,
                                       .knowledge = KnowledgeUse::Required};

extern const Part kEacoPaperComplementary = {
    .kind = PartKind::Sharing,
    .name = "share-eaco-paper-complementary",
    .description = "the same, least similar utilisation first",
    .install = put_eaco_paper<ShareRanking::Complementary>,
    .knowledge = KnowledgeUse::Required};

}  // namespace goban::core::policy
