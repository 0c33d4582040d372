#include "core/knowledge/gpu_busy.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace goban::core::knowledge {

std::optional<double> gpu_busy_pct(const base::reports::JobProfile& profile) {
  constexpr std::array kBusyParts = {"compute", "evaluation"};
  constexpr double kAll = 100;
  if (!profile.time_pct.contains(kBusyParts.front())) return std::nullopt;
  if (profile.utilisation_pct) return std::clamp(profile.utilisation_pct->value, 0.0, kAll);
  double busy_pct = 0;
  for (const char* part : kBusyParts) {
    const auto found = profile.time_pct.find(part);
    if (found != profile.time_pct.end()) busy_pct += found->second;
  }
  return std::min(busy_pct, kAll);
}

}  // namespace goban::core::knowledge
