#include "core/policy/size/gpu_plan.hpp"

#include <algorithm>
#include <type_traits>

namespace goban::core::policy {

void GpuPlan::give(TimeNs at, int32_t gpus) {
  if (at == base::kNever) return;
  const TimeNs when = slot_end(std::max(at, now_ + 1));  // it holds them now, however late it is
  auto from = free_.lower_bound(when);
  if (from == free_.end() || from->first != when) {
    from = free_.emplace_hint(from, when, std::prev(from)->second);
  }
  for (; from != free_.end(); ++from) from->second += gpus;
}

TimeNs GpuPlan::slot_end(TimeNs end) const {
  if (slot_ns_ == 0 || end == base::kNever) return end;
  return base::add_saturating(now_, (end - now_ + slot_ns_ - 1) / slot_ns_ * slot_ns_);
}

template <typename Map>
GpuPlan::Planned GpuPlan::walk(Map& free, std::span<const model::SpeedLevel> levels,
                               double left) const {
  Planned planned;
  for (auto at = free.begin(); at != free.end(); ++at) {
    const auto next = std::next(at);
    const TimeNs until = next == free.end() ? base::kNever : next->first;
    const int32_t before = at->second;
    const model::SpeedLevel* level = model::level_at_most(levels, before);
    if (at == free.begin() && level != nullptr) planned.gpus_now = level->gpus;
    if (level == nullptr) continue;
    const double needs_s = left / level->steps_per_s;
    // Whoever is all but done holds its GPUs now, too.
    const TimeNs needs = std::max<TimeNs>(base::from_seconds_up(needs_s), 1);
    const TimeNs end = base::add_saturating(at->first, needs);
    if constexpr (!std::is_const_v<Map>) at->second -= level->gpus;
    if (end <= until) {
      planned.end_ns = end;
      const TimeNs given_back = slot_end(end);
      if constexpr (!std::is_const_v<Map>) {
        // From there on they are free again; nothing is said of a later change of the rest.
        if (given_back < until) free.emplace_hint(next, given_back, before);
      }
      return planned;
    }
    left -= base::to_seconds(until - at->first) * level->steps_per_s;
  }
  return planned;
}

template GpuPlan::Planned GpuPlan::walk(const std::map<TimeNs, int32_t>& free,
                                        std::span<const model::SpeedLevel> levels,
                                        double left) const;
template GpuPlan::Planned GpuPlan::walk(std::map<TimeNs, int32_t>& free,
                                        std::span<const model::SpeedLevel> levels,
                                        double left) const;

}  // namespace goban::core::policy
