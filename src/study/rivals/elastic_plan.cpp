#include "study/rivals/elastic_plan.hpp"

#include <algorithm>
#include <cmath>

#include "study/rivals/elasticflow.hpp"

namespace goban::study::rivals {

int32_t ElasticLevels::at_most(int32_t gpus) const {
  int32_t most = 0;
  for (const auto& [level, rate] : rates) {
    if (level <= gpus) most = level;
  }
  return most;
}

double ElasticLevels::rate(int32_t gpus) const {
  for (const auto& [level, steps_per_s] : rates) {
    if (level == gpus) return steps_per_s;
  }
  return 0;
}

double ElasticPlan::slot_end(double end_s) const {
  return now_s_ + std::ceil((end_s - now_s_) / kElasticSlotS) * kElasticSlotS;
}

void ElasticPlan::keep_changes(std::map<double, int32_t> free) {
  free_ = std::move(free);
  auto before = free_.begin();
  for (auto at = std::next(before); at != free_.end();) {
    if (at->second == before->second) {
      at = free_.erase(at);
    } else {
      before = at++;
    }
  }
}

PlannedJob ElasticPlan::add(const ElasticLevels& levels, double left) {
  std::map<double, int32_t> free = free_;
  const int32_t most = levels.most();
  PlannedJob plan{.gpus_now = -1, .end_s = 0};
  double from_s = now_s_;
  for (auto next = std::next(free_.begin()); next != free_.end(); ++next) {
    const double until_s = next->first;
    const int32_t room = free[from_s];
    const int32_t gpus = room >= most ? most : levels.at_most(room);
    if (plan.gpus_now < 0) plan.gpus_now = gpus;
    if (gpus > 0) {
      const double rate = levels.rate(gpus);
      const double end_s = std::ceil(from_s + left / rate);
      if (until_s >= end_s) {
        int32_t before = num_gpus_;
        if (from_s < end_s) {
          before = room;
          free[from_s] = room - gpus;
        } else if (gpus < most) {
          free[from_s] = room - gpus;
        }
        if (!free_.contains(end_s)) free[slot_end(end_s)] = before;
        plan.end_s = end_s;
        keep_changes(std::move(free));
        return plan;
      }
      left -= (until_s - from_s) * rate;
      free[from_s] = room - gpus;
    }
    from_s = until_s;
  }
  if (plan.gpus_now < 0) plan.gpus_now = most;
  plan.end_s = std::ceil(from_s + left / levels.rate(most));
  free[from_s] = num_gpus_ - most;
  free[slot_end(plan.end_s)] = num_gpus_;
  keep_changes(std::move(free));
  return plan;
}

}  // namespace goban::study::rivals
