#include "core/knowledge/energy/power_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace goban::core::knowledge {

double PowerModel::gpu_busy_w(double util_pct) const {
  const double share = std::clamp(util_pct, 0.0, 100.0) / 100;
  return std::max(gpu_context_w, gpu_idle_w + gpu_dynamic_w * std::pow(share, exponent));
}

double PowerModel::gpu_shared_w(std::span<const double> alone_w, double speed) const {
  double power_w = gpu_share_base_w;
  for (const double alone : alone_w) power_w += (alone - gpu_share_base_w) * speed;
  return std::max(power_w, gpu_context_w);
}

RestEnergy rest_energy(const RestState& rest, double span_s, bool woken) {
  const double moving_s = rest.enter_s + (woken ? rest.wake_s : 0);
  return {std::max(0.0, span_s - moving_s) * rest.power_w,
          rest.enter_j + (woken ? rest.wake_j : 0)};
}

double break_even_s(const RestState& rest, double idle_w) {
  if (rest.power_w >= idle_w) return std::numeric_limits<double>::infinity();
  const double moving_s = rest.enter_s + rest.wake_s;
  const double moving_j = rest.enter_j + rest.wake_j;
  return std::max(moving_s, (moving_j - rest.power_w * moving_s) / (idle_w - rest.power_w));
}

double joint_util_pct(std::span<const double> alone_pct) {
  return std::min(100.0, std::accumulate(alone_pct.begin(), alone_pct.end(), 0.0));
}

const PowerModel* PowerCatalog::find(const std::string& gpu_model) const {
  const PowerModel* best = nullptr;
  for (const PowerModel& model : models) {
    if (!gpu_model.starts_with(model.gpu_model)) continue;
    if (best == nullptr || model.gpu_model.size() > best->gpu_model.size()) best = &model;
  }
  return best;
}

}  // namespace goban::core::knowledge
