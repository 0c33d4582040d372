// Max-marginal: every job gets its fewest GPUs, in queue order; what is left goes, step by step, to
// the job whose remaining time falls most per GPU (Optimus, EuroSys 2018: docs/papers.md).
#include <queue>

#include "core/policy/part.hpp"
#include "core/policy/size/size.hpp"

namespace goban::core::policy {
namespace {

/// A step of a job to more GPUs.
struct Growth {
  double saved_s_per_gpu = 0;
  size_t job = 0;
  const model::SpeedLevel* from = nullptr;
  const model::SpeedLevel* to = nullptr;

  friend bool operator<(const Growth& a, const Growth& b) {
    return a.saved_s_per_gpu != b.saved_s_per_gpu ? a.saved_s_per_gpu < b.saved_s_per_gpu
                                                  : a.job > b.job;
  }
};

class MaxMarginal final : public SizePolicy {
 public:
  [[nodiscard]] bool decides() const override { return true; }

  void choose(const SizeView& view, std::span<Size> sizes) const override {
    std::vector<int32_t> free(view.gpus.begin(), view.gpus.end());
    std::vector<const model::SpeedLevel*> at(view.jobs.size());
    for (size_t i = 0; i < view.jobs.size(); ++i) {
      at[i] = first_level(view.jobs[i], free, sizes[i]);
    }
    std::priority_queue<Growth> growths;
    const auto look = [&](size_t i) {
      const Growth best = best_growth(view.jobs[i].levels[sizes[i].gpu_model],
                                      view.jobs[i].steps_left, free[sizes[i].gpu_model], i, at[i]);
      if (best.to != nullptr) growths.push(best);
    };
    for (size_t i = 0; i < view.jobs.size(); ++i) {
      if (at[i] != nullptr) look(i);
    }
    while (!growths.empty()) {
      const Growth growth = growths.top();
      growths.pop();
      int32_t& left = free[sizes[growth.job].gpu_model];
      const int32_t more = growth.to->gpus - growth.from->gpus;
      if (more <= left) {
        left -= more;
        at[growth.job] = growth.to;
        sizes[growth.job].gpus = growth.to->gpus;
      }
      look(growth.job);  // a smaller step may still fit
    }
  }

 private:
  /// Gives the job its fewest GPUs: of the model that it has, else of the one on which they are
  /// fastest. Null if they are not free.
  static const model::SpeedLevel* first_level(const SizeJob& job, std::vector<int32_t>& free,
                                              Size& size) {
    const model::SpeedLevel* best = nullptr;
    for (uint32_t m = 0; m < free.size(); ++m) {
      if (job.levels[m].empty() || job.levels[m].front().gpus > free[m]) continue;
      const bool is_own = job.runs && job.job->gpu_model == m;
      if (best != nullptr && !is_own && job.levels[m].front().steps_per_s <= best->steps_per_s) {
        continue;
      }
      best = &job.levels[m].front();
      size = {.gpus = best->gpus, .gpu_model = m};
      if (is_own) break;
    }
    if (best != nullptr) free[size.gpu_model] -= best->gpus;
    return best;
  }

  /// The step that saves most time per GPU, among those that fit; of no job if none saves any.
  static Growth best_growth(const std::vector<model::SpeedLevel>& levels, double steps_left,
                            int32_t free, size_t job, const model::SpeedLevel* from) {
    Growth best{.job = job, .from = from};
    for (const model::SpeedLevel* to = from + 1; to < levels.data() + levels.size(); ++to) {
      const int32_t more = to->gpus - from->gpus;
      if (more > free) break;
      const double saved_s = steps_left / from->steps_per_s - steps_left / to->steps_per_s;
      if (!(saved_s / more > best.saved_s_per_gpu)) continue;  // also if nothing is known
      best.saved_s_per_gpu = saved_s / more;
      best.to = to;
    }
    return best;
  }
};

}  // namespace

extern const Part kMaxMarginal = {
    .kind = PartKind::Size,
    .name = "max-marginal",
    .description = "fewest GPUs to all, the rest where they save most time (Optimus)",
    .install = put<&PolicySet::size, MaxMarginal>};

}  // namespace goban::core::policy
