#include "core/knowledge/penalty_model.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace goban::core::knowledge {

double ring_all_reduce_s(uint32_t num_gpus, double bytes, double latency_s,
                         double bandwidth_bytes_per_s) {
  GOBAN_CHECK(bandwidth_bytes_per_s > 0);
  if (num_gpus < 2) return 0;
  const double n = num_gpus;
  return 2 * (n - 1) * latency_s + 2 * (n - 1) / n * bytes / bandwidth_bytes_per_s;
}

std::optional<std::vector<double>> derived_penalties(const base::reports::JobProfile& profile,
                                                     const model::Cluster& cluster,
                                                     uint32_t num_gpus) {
  if (!profile.bytes_per_step || !profile.sync_interval_s) return std::nullopt;
  const double compute_s = profile.sync_interval_s->value;
  std::vector<double> step_s;
  for (const model::TopologyLevel& level : cluster.levels()) {
    if (!(level.bandwidth_bytes_per_s > 0)) return std::nullopt;
    step_s.push_back(compute_s + ring_all_reduce_s(num_gpus, profile.bytes_per_step->value,
                                                   level.latency_s, level.bandwidth_bytes_per_s));
  }
  if (step_s.empty()) return std::nullopt;
  if (num_gpus < 2) return std::vector<double>(step_s.size(), 1.0);
  const double innermost_s = step_s.front();
  // The job neither computes nor communicates: no penalty can be derived.
  if (!(innermost_s > 0)) return std::nullopt;
  std::vector<double> penalties;
  double largest = 1;
  for (const double one_s : step_s) {
    largest = std::max(largest, one_s / innermost_s);
    if (!std::isfinite(largest)) return std::nullopt;
    penalties.push_back(largest);
  }
  return penalties;
}

}  // namespace goban::core::knowledge
