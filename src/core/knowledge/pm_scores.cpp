#include "core/knowledge/pm_scores.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace goban::core::knowledge {

PmScores PmScores::uniform(uint32_t num_gpus) {
  const std::vector<double> ones(num_gpus, 1.0);
  return PmScores({class_from_values(ones, ones)});
}

PmScores::PmScores(std::vector<ClassScores> classes) : classes_(std::move(classes)) {
  GOBAN_CHECK(!classes_.empty());
  for (const ClassScores& scores : classes_) {
    GOBAN_CHECK(scores.raw.size() == num_gpus() && scores.bin.size() == num_gpus());
  }
}

double PmScores::max_raw(AppClass app_class, std::span<const GpuId> gpus) const {
  const std::vector<double>& raw = of(app_class).raw;
  double worst = 0;
  for (const GpuId gpu : gpus) worst = std::max(worst, raw[gpu.index()]);
  return gpus.empty() ? 1.0 : worst;
}

ClassScores class_from_values(std::vector<double> raw, std::span<const double> bin_value_of_gpu) {
  GOBAN_CHECK(raw.size() == bin_value_of_gpu.size());
  ClassScores scores;
  scores.raw = std::move(raw);
  scores.bin_values.assign(bin_value_of_gpu.begin(), bin_value_of_gpu.end());
  std::ranges::sort(scores.bin_values);
  const auto repeated = std::ranges::unique(scores.bin_values);
  scores.bin_values.erase(repeated.begin(), repeated.end());
  GOBAN_CHECK(scores.bin_values.size() <= 255, "too many bins");
  std::vector<bool> seen(scores.bin_values.size());
  for (const double value : bin_value_of_gpu) {
    const auto at = std::ranges::lower_bound(scores.bin_values, value);
    const auto bin = static_cast<uint8_t>(at - scores.bin_values.begin());
    scores.bin.push_back(bin);
    if (!seen[bin]) scores.bins_by_appearance.push_back(bin);
    seen[bin] = true;
  }
  return scores;
}

}  // namespace goban::core::knowledge
