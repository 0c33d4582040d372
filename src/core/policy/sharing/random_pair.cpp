// After Gandiva in Gavel (Narayanan et al., OSDI 2020), a baseline of EaCO: while demand exceeds
// the cluster, blocked jobs are paired at random with jobs of the same number of GPUs; a pair whose
// measured rates add up to less than 1 is separated. Unlike in Gavel, running jobs are not paired
// and no time is sliced. Memory as in best_pair.cpp.
#include "base/random.hpp"
#include "core/policy/part.hpp"
#include "core/policy/sharing/admission.hpp"

namespace goban::core::policy {
namespace {

constexpr double kRandomPairSumOfRatesMin = 1.0;
constexpr int32_t kRandomPairJobsPerGpu = 2;
constexpr TimeNs kObserveMax_ns = 360 * base::kSecond;  // a round of Gavel

class RandomPair final : public Sharing {
 public:
  explicit RandomPair(SharingRules rules)
      : admission_{.sharing = rules, .jobs_per_gpu_max = kRandomPairJobsPerGpu} {}

  int32_t jobs_per_gpu_max() const override { return kRandomPairJobsPerGpu; }
  ShareWhen when() const override { return ShareWhen::IfBlocked; }
  bool observes() const override { return true; }
  TimeNs observe_max_ns() const override { return kObserveMax_ns; }

  std::optional<SharedPlace> choose(const SharingView& view, const JobState& job) const override {
    const Tenants& tenants = view.tenants();
    if (job.request.num_gpus <= 0) return {};
    if (view.demand_gpus() <= static_cast<int64_t>(tenants.cluster().num_gpus())) return {};
    const auto kinds = tenants.kinds_of_size(static_cast<uint32_t>(job.request.num_gpus));
    uint64_t alone = 0;
    for (const model::KindId id : kinds) alone += num_alone(tenants.kind(id));
    if (alone == 0) return {};
    // The first group that can be joined, cyclically from a random one.
    const uint64_t begin = base::Random(view.seed(job.job)).below(alone);
    const TenantTraits joiner = view.traits(job);
    std::optional<SharedPlace> place = first_of(view, job, joiner, kinds, begin, alone);
    return place ? place : first_of(view, job, joiner, kinds, 0, begin);
  }

  std::optional<JobId> review(const SharingView& view, GroupId id, bool observed) const override {
    const Tenants::Group& group = view.tenants().group(id);
    if (!observed || group.jobs.size() < 2) return {};
    const TenantSet set(view, view.tenants().kind(group.kind).gpu_model, group.traits);
    const SetPrediction prediction = set.predict(view);
    if (prediction.packable() && prediction.sum_of_rates() >= kRandomPairSumOfRatesMin) return {};
    return group.jobs.back();
  }

 private:
  static uint64_t num_alone(const Tenants::Kind& kind) {
    return kind.traits.size() == 1 ? kind.groups.size() : 0;
  }

  /// The first group that can be joined among the single-job groups numbered [begin, end).
  std::optional<SharedPlace> first_of(const SharingView& view, const JobState& job,
                                      const TenantTraits& joiner,
                                      std::span<const model::KindId> kinds, uint64_t begin,
                                      uint64_t end) const {
    uint64_t number = 0;  // number of the kind's first group
    for (const model::KindId id : kinds) {
      const Tenants::Kind& kind = view.tenants().kind(id);
      const uint64_t count = num_alone(kind);
      const uint64_t from = std::clamp(begin, number, number + count) - number;
      const uint64_t to = std::clamp(end, number, number + count) - number;
      number += count;
      if (from >= to) continue;
      TenantSet pair(view, kind.gpu_model, kind.traits);
      pair.add(joiner);
      const SetPrediction prediction = pair.predict(view);
      if (!prediction.packable()) continue;
      if (refuse_set(view, admission_, pair) != Refusal::None) continue;
      for (uint64_t i = from; i < to; ++i) {
        const GroupId group = kind.groups[i];
        if (refuse_group(view, admission_, job, view.tenants().group(group)) == Refusal::None) {
          return SharedPlace{group, prediction.level};
        }
      }
    }
    return {};
  }

  AdmissionRules admission_;
};

}  // namespace

extern const Part kShareRandomPair = {
    .kind = PartKind::Sharing,
    .name = "share-random-pair",
    .description =
        "random pairs while demand exceeds the cluster, split if rates sum to less than 1",
    .install =
        [](PolicySet& set, const RunContext& /*run*/, const PolicyOptions& options) {
          set.sharing = std::make_unique<RandomPair>(options.rules);
        },
    .knowledge = KnowledgeUse::Required};

}  // namespace goban::core::policy
