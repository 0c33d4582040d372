#include "core/knowledge/measure/refresh_plan.hpp"

#include <tuple>

namespace goban::core::knowledge {
namespace {

/// 0 = not due; larger = more urgent.
int urgency(const RefreshGpu& gpu, const RefreshOptions& options) {
  if (!gpu.idle) return 0;
  if (gpu.expired) return 3;
  if (gpu.suspect && gpu.age_s >= options.suspect_age_min_s) return 2;
  return gpu.age_s >= options.age_min_s ? 1 : 0;
}

}  // namespace

std::optional<size_t> next_to_refresh(std::span<const RefreshGpu> gpus, const RefreshBooks& books,
                                      const RefreshOptions& options) {
  if (books.spent_s + options.cost_s > kRefreshShare * books.gpu_seconds) return std::nullopt;
  std::optional<size_t> best;
  for (size_t i = 0; i < gpus.size(); ++i) {
    const int mine = urgency(gpus[i], options);
    if (mine == 0) continue;
    if (!best || std::tuple(mine, gpus[i].age_s) >
                     std::tuple(urgency(gpus[*best], options), gpus[*best].age_s)) {
      best = i;
    }
  }
  return best;
}

}  // namespace goban::core::knowledge
