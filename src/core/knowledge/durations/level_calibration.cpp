#include "core/knowledge/durations/level_calibration.hpp"

#include <algorithm>
#include <cmath>

namespace goban::core::knowledge {
namespace {

constexpr double kPriorRuns = 20;  // uniform ones, before anything is known
constexpr double kForgotten = 0.001;
constexpr double kLevelMin = 0.002;
constexpr double kLevelMax = 0.998;

}  // namespace

LevelCalibration::LevelCalibration() : total_(kPriorRuns) { counts_.fill(kPriorRuns / kBins); }

void LevelCalibration::learn(double transform) {
  for (double& count : counts_) {
    count = count * (1 - kForgotten) + kForgotten * kPriorRuns / kBins;
  }
  const double place = std::clamp(transform, 0.0, 1.0) * kBins;
  counts_[std::min(static_cast<size_t>(place), kBins - 1)] += 1;
  total_ = total_ * (1 - kForgotten) + kForgotten * kPriorRuns + 1;
}

double LevelCalibration::level(double wanted) const {
  const double target = wanted * total_;
  double below = 0;
  for (size_t bin = 0; bin < kBins; ++bin) {
    if (below + counts_[bin] >= target) {
      const double inside = (target - below) / counts_[bin];
      return std::clamp((static_cast<double>(bin) + inside) / kBins, kLevelMin, kLevelMax);
    }
    below += counts_[bin];
  }
  return kLevelMax;
}

void LevelCalibration::write(std::string& out) const {
  for (const double count : counts_) base::put(out, count);
  base::put(out, total_);
}

bool LevelCalibration::read(base::ByteReader& in) {
  for (double& count : counts_) count = in.get<double>();
  total_ = in.get<double>();
  const auto good = [](double each) { return std::isfinite(each) && each > 0; };
  return in.good() && good(total_) && std::ranges::all_of(counts_, good);
}

}  // namespace goban::core::knowledge
