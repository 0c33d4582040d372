#include "core/knowledge/robust_scores.hpp"

#include <algorithm>
#include <cmath>

#include "core/knowledge/median.hpp"

namespace goban::core::knowledge {
namespace {

constexpr size_t kConfirmingRuns = 3;
constexpr double kMadToSd = 1.4826;
constexpr double kMedianError = 1.2533;  // sd of a sample's median / sd of its mean, sqrt(pi / 2)
constexpr double kRejectSigmas = 3.5;
constexpr double kRejectSigmaMin = 0.001;  // of the median
constexpr double kFenceSigmas = 3;
constexpr double kFenceSigmaMin = 0.01;  // of the median

double sigma_around(double middle, std::vector<double> values) {
  for (double& value : values) value = std::abs(value - middle);
  return kMadToSd * median(std::move(values));
}

struct Fence {
  double low;
  double high;
};

// Expected range of the scores of this fleet.
Fence fleet_fence(const std::vector<double>& medians) {
  const double middle = median(medians);
  const double sigma = std::max(sigma_around(middle, medians), kFenceSigmaMin * middle);
  // Scores are positive.
  return {std::max(middle - kFenceSigmas * sigma, kFenceSigmaMin * middle),
          middle + kFenceSigmas * sigma};
}

// Typical standard deviation of the runs of one GPU; nullopt if no GPU has enough runs.
std::optional<double> typical_sigma(const ProfileRuns& profile,
                                    const std::vector<double>& medians) {
  std::vector<double> sigmas;
  for (size_t gpu = 0; gpu < profile.num_gpus(); ++gpu) {
    if (profile.runs[gpu].size() < kConfirmingRuns) continue;
    sigmas.push_back(sigma_around(medians[gpu], profile.runs[gpu]));
  }
  if (sigmas.empty()) return std::nullopt;
  return median(std::move(sigmas));
}

// `sigma`: standard deviation of this GPU's runs, if known.
RobustScore estimate(const std::vector<double>& runs, double middle, std::optional<double> sigma,
                     const Fence& fence) {
  RobustScore result;
  result.runs = static_cast<uint32_t>(runs.size());
  std::vector<double> kept = runs;
  if (runs.size() >= kConfirmingRuns) {
    const double reach =
        kRejectSigmas * std::max(sigma.value_or(0.0), kRejectSigmaMin * std::abs(middle));
    std::erase_if(kept, [&](double run) { return std::abs(run - middle) > reach; });
    result.score = median(kept);
  } else {
    result.score = std::clamp(middle, fence.low, fence.high);
    result.clamped = result.score != middle;
  }
  result.rejected = static_cast<uint32_t>(runs.size() - kept.size());
  if (sigma) result.std_error = kMedianError * *sigma / std::sqrt(static_cast<double>(kept.size()));
  return result;
}

}  // namespace

std::vector<RobustScore> robust_scores(const ProfileRuns& profile) {
  std::vector<RobustScore> scores;
  if (profile.num_gpus() == 0) return scores;
  const std::vector<double> medians = median_scores(profile);
  const Fence fence = fleet_fence(medians);
  const std::optional<double> typical = typical_sigma(profile, medians);
  for (size_t gpu = 0; gpu < profile.num_gpus(); ++gpu) {
    const std::vector<double>& runs = profile.runs[gpu];
    std::optional<double> sigma = typical;
    if (runs.size() >= kConfirmingRuns) {
      sigma = std::max(typical.value_or(0.0), sigma_around(medians[gpu], runs));
    }
    scores.push_back(estimate(runs, medians[gpu], sigma, fence));
  }
  return scores;
}

}  // namespace goban::core::knowledge
