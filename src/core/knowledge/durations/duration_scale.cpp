#include "core/knowledge/durations/duration_scale.hpp"

#include <algorithm>
#include <cmath>

#include "base/portable_math.hpp"

namespace goban::core::knowledge {
namespace {

constexpr double kBinsPerOctave = 4;
constexpr double kLn2 = 0x1.62e42fefa39efp-1;

}  // namespace

double scale_position(double seconds) {
  if (!(seconds > 1)) return 0;
  const double last = std::nextafter(static_cast<double>(kDurationBins), 0.0);
  return std::min(kBinsPerOctave * base::portable_log(seconds) / kLn2, last);
}

double seconds_at(double position) { return base::portable_exp(position / kBinsPerOctave * kLn2); }

double position_of_level(const DurationDistribution& distribution, double level) {
  double below = 0;
  for (size_t bin = 0; bin < kDurationBins; ++bin) {
    const double share = distribution[bin];
    if (share > 0 && below + share >= level) {
      return static_cast<double>(bin) + std::clamp((level - below) / share, 0.0, 1.0);
    }
    below += share;
  }
  return kDurationBins;
}

double level_of_position(const DurationDistribution& distribution, double position) {
  const auto bin = std::min(static_cast<size_t>(std::max(position, 0.0)), kDurationBins - 1);
  double below = 0;
  for (size_t i = 0; i < bin; ++i) below += distribution[i];
  return below + distribution[bin] * (position - static_cast<double>(bin));
}

void put_sparse(std::string& out, std::span<const float> numbers) {
  std::string kept;
  for (size_t i = 0; i < numbers.size(); i += 8) {
    uint8_t present = 0;
    for (size_t bit = 0; bit < 8 && i + bit < numbers.size(); ++bit) {
      if (numbers[i + bit] == 0) continue;
      present |= static_cast<uint8_t>(1U << bit);
      base::put(kept, numbers[i + bit]);
    }
    base::put(out, present);
  }
  out += kept;
}

bool get_sparse(base::ByteReader& in, std::span<float> numbers) {
  const auto present = in.take((numbers.size() + 7) / 8);
  if (present.empty()) return false;
  bool fine = true;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const bool is_there = (present[i / 8] >> (i % 8) & 1U) != 0;
    numbers[i] = is_there ? in.get<float>() : 0;
    fine = fine && std::isfinite(numbers[i]) && numbers[i] >= 0;
  }
  return fine && in.good();
}

void DurationCounts::write(std::string& out) const {
  put_sparse(out, counts_);
  base::put(out, runs_);
}

bool DurationCounts::read(base::ByteReader& in) {
  const bool counts = get_sparse(in, counts_);
  runs_ = in.get<double>();
  return counts && in.good() && std::isfinite(runs_) && runs_ >= 0;
}

void DurationCounts::learn(double position, double kept) {
  for (float& count : counts_) count = static_cast<float>(count * kept);
  runs_ = runs_ * kept + 1;
  const auto bin = static_cast<size_t>(position);
  const double off_centre = position - static_cast<double>(bin) - 0.5;
  const bool at_rim = off_centre < 0 ? bin == 0 : bin + 1 == kDurationBins;
  const size_t neighbour = at_rim ? bin : (off_centre < 0 ? bin - 1 : bin + 1);
  const double moved = std::min(0.5, std::abs(off_centre));
  counts_[bin] += static_cast<float>(1 - moved);
  counts_[neighbour] += static_cast<float>(moved);
}

void DurationCounts::mix_into(DurationDistribution& distribution, double prior) const {
  const double scale = 1 / (runs_ + prior);
  for (size_t bin = 0; bin < kDurationBins; ++bin) {
    distribution[bin] = (counts_[bin] + prior * distribution[bin]) * scale;
  }
}

}  // namespace goban::core::knowledge
