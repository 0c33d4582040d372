#include "core/knowledge/colocation/colocation_predictor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.hpp"

namespace goban::core::knowledge {
namespace {

/// Upper bound of the joint utilisation in percent, and mean speed below it.
struct PriorRow {
  double below_pct;
  double speed;
};
constexpr std::array kPrior = {PriorRow{20, .999}, PriorRow{40, .996}, PriorRow{60, .987},
                               PriorRow{80, .963}, PriorRow{100, .853}};
constexpr double kPriorFull = .795;

constexpr std::array<std::string_view, 6> kLevelNames = {"alone",       "measured",    "pairs",
                                                         "utilisation", "pessimistic", "never"};
constexpr std::array<std::string_view, 4> kPowerLevelNames = {"measured", "composed", "utilisation",
                                                              "unknown"};

double upper_of(double mean, double rel_std, double upper_z) {
  return mean * (1 + upper_z * rel_std);
}

}  // namespace

std::string_view level_name(PredictionLevel level) {
  return kLevelNames[static_cast<size_t>(level)];
}

std::string_view level_name(PowerLevel level) {
  return kPowerLevelNames[static_cast<size_t>(level)];
}

double SetPrediction::sum_of_rates() const {
  double sum = 0;
  for (size_t i = 0; i < size; ++i) sum += 1 / mean[i];
  return sum;
}

double SetPrediction::speed() const {
  return size / std::accumulate(mean.begin(), mean.begin() + size, 0.0);
}

double prior_speed(double joint_pct, size_t num_jobs) {
  double speed = kPriorFull;
  for (const PriorRow& row : kPrior) {
    if (joint_pct >= row.below_pct) continue;
    speed = row.speed;
    break;
  }
  if (num_jobs > 2 && joint_pct > 100) speed = std::min(speed, 100 / joint_pct);
  return speed;
}

/// The members in ascending order, with their positions in the query.
struct ColocationPredictor::Sorted {
  explicit Sorted(std::span<const AppId> given) : size(given.size()) {
    for (size_t i = 0; i < size; ++i) {
      size_t at = i;
      for (; at > 0 && apps[at - 1] > given[i]; --at) {
        apps[at] = apps[at - 1];
        position[at] = position[at - 1];
      }
      apps[at] = given[i];
      position[at] = i;
    }
  }
  [[nodiscard]] std::span<const AppId> members() const { return {apps.data(), size}; }
  size_t size;
  std::array<AppId, kSetMax> apps;
  std::array<size_t, kSetMax> position{};
};

bool ColocationPredictor::from_set(GpuTypeId gpu_type, const Sorted& sorted,
                                   SetPrediction& out) const {
  const MeasuredSet* set = history_->find(gpu_type, sorted.members());
  if (set == nullptr) return false;
  out.level = set->never ? PredictionLevel::Never : PredictionLevel::Measured;
  const double rel_std = std::max(set->rel_std, options_.rel_std_measured);
  for (size_t i = 0; i < sorted.size; ++i) {
    out.mean[sorted.position[i]] = set->slowdown[i];
    out.upper[sorted.position[i]] = upper_of(set->slowdown[i], rel_std, options_.upper_z);
  }
  return true;
}

bool ColocationPredictor::from_pairs(GpuTypeId gpu_type, const Sorted& sorted,
                                     SetPrediction& out) const {
  std::array<double, kSetMax> mean{};
  std::array<double, kSetMax> variance{};
  mean.fill(1);
  variance.fill(options_.rel_std_pairs * options_.rel_std_pairs);
  bool complete = sorted.size > 2;
  for (size_t i = 0; i < sorted.size; ++i) {
    for (size_t j = i + 1; j < sorted.size; ++j) {
      const std::array pair = {sorted.apps[i], sorted.apps[j]};
      const MeasuredSet* known = history_->find(gpu_type, pair);
      if (known == nullptr) {
        complete = false;  // continue: another pair may never be co-located
        continue;
      }
      if (known->never) {
        out.level = PredictionLevel::Never;
        return true;
      }
      const double rel_std = std::max(known->rel_std, options_.rel_std_measured);
      // Noise below 1 must not make a large set faster than its members alone.
      mean[i] *= std::max(1.0, known->slowdown[0]);
      mean[j] *= std::max(1.0, known->slowdown[1]);
      variance[i] += rel_std * rel_std;
      variance[j] += rel_std * rel_std;
    }
  }
  if (!complete) return false;
  out.level = PredictionLevel::Pairs;
  for (size_t i = 0; i < sorted.size; ++i) {
    out.mean[sorted.position[i]] = mean[i];
    out.upper[sorted.position[i]] = upper_of(mean[i], std::sqrt(variance[i]), options_.upper_z);
  }
  return true;
}

bool ColocationPredictor::from_utilisation(GpuTypeId gpu_type, const Sorted& sorted,
                                           SetPrediction& out) const {
  double joint_pct = 0;
  for (const AppId app : sorted.members()) {
    const MeasuredSet* alone = history_->find_alone(gpu_type, app);
    if (alone == nullptr || alone->util_pct < 0) return false;
    joint_pct += alone->util_pct;
  }
  out.level = PredictionLevel::Utilisation;
  const double slowdown = 1 / prior_speed(joint_pct, sorted.size);
  for (size_t i = 0; i < sorted.size; ++i) {
    out.mean[i] = slowdown;
    out.upper[i] = upper_of(slowdown, options_.rel_std_utilisation, options_.upper_z);
  }
  return true;
}

SetPrediction ColocationPredictor::predict(GpuTypeId gpu_type, std::span<const AppId> apps) const {
  GOBAN_CHECK(!apps.empty());
  SetPrediction out;
  if (apps.size() > kSetMax) return out;
  out.size = static_cast<uint8_t>(apps.size());
  out.mean.fill(1);
  out.upper.fill(1);
  if (apps.size() == 1) {
    out.level = PredictionLevel::Alone;
    return out;
  }
  const Sorted sorted(apps);
  if (from_set(gpu_type, sorted, out) || from_pairs(gpu_type, sorted, out) ||
      from_utilisation(gpu_type, sorted, out)) {
    return out;
  }
  out.level = PredictionLevel::Pessimistic;
  const auto turns = static_cast<double>(apps.size());
  for (size_t i = 0; i < apps.size(); ++i) {
    out.mean[i] = turns;
    out.upper[i] = turns * options_.pessimistic_upper;
  }
  return out;
}

SetPower set_power(const PowerModel& model, const ColocationHistory& history, GpuTypeId gpu_type,
                   std::span<const AppId> apps, const SetPrediction& prediction) {
  std::array<AppId, kSetMax> sorted;
  GOBAN_CHECK(!apps.empty() && apps.size() <= kSetMax);
  std::ranges::copy(apps, sorted.begin());
  std::ranges::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(apps.size()));
  const MeasuredSet* set = history.find(gpu_type, {sorted.data(), apps.size()});
  if (set != nullptr && set->power_w >= 0) {
    return {std::max(model.gpu_idle_w, set->power_w - model.host_share_w()), PowerLevel::Measured};
  }
  std::array<double, kSetMax> alone_w{};
  double joint_pct = 0;
  bool watts_known = apps.size() > 1;
  bool util_known = true;
  for (size_t i = 0; i < apps.size(); ++i) {
    const MeasuredSet* alone = history.find_alone(gpu_type, apps[i]);
    watts_known = watts_known && alone != nullptr && alone->power_w >= 0;
    util_known = util_known && alone != nullptr && alone->util_pct >= 0;
    if (watts_known) alone_w[i] = alone->power_w - model.host_share_w();
    if (util_known) joint_pct += alone->util_pct;
  }
  if (watts_known) {
    return {model.gpu_shared_w({alone_w.data(), apps.size()}, prediction.speed()),
            PowerLevel::Composed};
  }
  if (util_known) return {model.gpu_busy_w(joint_pct), PowerLevel::Utilisation};
  return {model.gpu_busy_w(100), PowerLevel::Unknown};
}

}  // namespace goban::core::knowledge
