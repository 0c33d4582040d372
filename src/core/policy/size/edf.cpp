// Earliest deadline first, as ElasticFlow without admission control (docs/papers.md): jobs in order
// of their deadlines get, at any time, the most GPUs that those before leave free.
#include <algorithm>
#include <numeric>

#include "core/policy/part.hpp"
#include "core/policy/size/gpu_plan.hpp"
#include "core/policy/size/size.hpp"

namespace goban::core::policy {
namespace {

class Edf final : public SizePolicy {
 public:
  [[nodiscard]] bool decides() const override { return true; }
  [[nodiscard]] bool withholds() const override { return true; }

  void choose(const SizeView& view, std::span<Size> sizes) const override {
    std::vector<GpuPlan> plans;
    for (const int32_t gpus : view.gpus) plans.emplace_back(view.now, gpus, view.slot_ns);
    for (const GpuReturn& each : view.later) plans[each.gpu_model].give(each.at_ns, each.gpus);
    std::vector<size_t> order(view.jobs.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {}, [&](size_t i) {
      return std::pair(view.jobs[i].deadline_ns, view.jobs[i].job->arrival);
    });
    for (const size_t i : order) {
      // Whoever follows gets none now, and what it gets later is for a later decision.
      if (std::ranges::all_of(plans, [](const GpuPlan& plan) { return plan.free_now() == 0; })) {
        break;
      }
      const SizeJob& job = view.jobs[i];
      const uint32_t gpu_model = best_model(job, plans);
      const auto planned = plans[gpu_model].add(job.levels[gpu_model], job.steps_left);
      sizes[i] = {.gpus = planned.gpus_now, .gpu_model = gpu_model};
    }
  }

 private:
  /// The GPU model with which it ends first; the one that it has, if that is as good.
  static uint32_t best_model(const SizeJob& job, const std::vector<GpuPlan>& plans) {
    uint32_t best = 0;
    GpuPlan::Planned of_best{.gpus_now = -1};
    for (uint32_t m = 0; m < plans.size(); ++m) {
      if (job.levels[m].empty()) continue;
      const auto planned = plans[m].try_add(job.levels[m], job.steps_left);
      const bool is_own = job.runs && job.job->gpu_model == m;
      const auto rank = [](const GpuPlan::Planned& each, bool own) {
        return std::tuple(-each.end_ns, each.gpus_now, own);
      };
      if (of_best.gpus_now >= 0 && rank(planned, is_own) <= rank(of_best, false)) continue;
      best = m;
      of_best = planned;
    }
    return best;
  }
};

}  // namespace

extern const Part kEdf = {
    .kind = PartKind::Size,
    .name = "edf",
    .description = "by deadline, each the most GPUs that are left (ElasticFlow)",
    .install = put<&PolicySet::size, Edf>};

}  // namespace goban::core::policy
