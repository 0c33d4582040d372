// The rule of Gavel's FIFO_packed (Narayanan et al., OSDI 2020), a baseline of EaCO: a job that
// does not fit the free GPUs joins one job with the same number of GPUs, the one with the highest
// sum of both rates, if it is above 1.5. Unlike in Gavel, which plans anew in each round, a pair
// stays together until one of both ends. Memory is checked in bytes where peaks are known; Gavel
// has no model of it.
#include "core/policy/part.hpp"
#include "core/policy/sharing/admission.hpp"

namespace goban::core::policy {
namespace {

constexpr double kBestPairSumOfRatesMin = 1.5;
constexpr int32_t kBestPairJobsPerGpu = 2;

class BestPair final : public Sharing {
 public:
  explicit BestPair(SharingRules rules)
      : admission_{.sharing = rules, .jobs_per_gpu_max = kBestPairJobsPerGpu} {}

  int32_t jobs_per_gpu_max() const override { return kBestPairJobsPerGpu; }
  ShareWhen when() const override { return ShareWhen::IfBlocked; }

  std::optional<SharedPlace> choose(const SharingView& view, const JobState& job) const override {
    if (job.request.num_gpus <= 0) return {};
    const Tenants& tenants = view.tenants();
    const TenantTraits joiner = view.traits(job);
    std::optional<SharedPlace> best;
    double best_sum = kBestPairSumOfRatesMin;
    for (const model::KindId id :
         tenants.kinds_of_size(static_cast<uint32_t>(job.request.num_gpus))) {
      const Tenants::Kind& kind = tenants.kind(id);
      if (kind.traits.size() != 1) continue;
      TenantSet pair(view, kind.gpu_model, kind.traits);
      pair.add(joiner);
      const SetPrediction prediction = pair.predict(view);
      if (!prediction.packable() || prediction.sum_of_rates() <= best_sum) continue;
      if (refuse_set(view, admission_, pair) != Refusal::None) continue;
      for (const GroupId group : kind.groups) {
        if (refuse_group(view, admission_, job, tenants.group(group)) != Refusal::None) continue;
        best = SharedPlace{group, prediction.level};
        best_sum = prediction.sum_of_rates();
        break;
      }
    }
    return best;
  }

 private:
  AdmissionRules admission_;
};

}  // namespace

extern const Part kShareBestPair = {
    .kind = PartKind::Sharing,
    .name = "share-best-pair",
    .description = "a blocked job joins the one with the highest sum of rates, if above 1.5",
    .install =
        [](PolicySet& set, const RunContext& /*run*/, const PolicyOptions& options) {
          set.sharing = std::make_unique<BestPair>(options.rules);
        },
    .knowledge = KnowledgeUse::Required};

}  // namespace goban::core::policy
