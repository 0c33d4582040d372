#include "core/knowledge/durations/duration_predictor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.hpp"
#include "base/portable_math.hpp"

namespace goban::core::knowledge {
namespace {

constexpr double kSlowPrior = 8;
constexpr double kFastPrior = 4;
constexpr uint64_t kRunsMin = 20;   ///< below, no interval is given
constexpr double kLossKept = 0.99;  ///< of the losses of a mixture, after the next run
constexpr std::array<double, 3> kLossLevels = {0.1, 0.5, 0.9};
/// Shorter runs count as this long in losses, as they do in judging forecasts.
constexpr double kLossShortest_s = 10;

double within_limit(const DurationTraits& job, double run_s) {
  return job.limit_s > 0 ? std::min(run_s, job.limit_s) : run_s;
}

struct Forgetting {
  double slow = 0;
  double fast = 0;
};

Forgetting forgetting_of(DurationBasis basis) {
  switch (basis) {
    case DurationBasis::AllRuns:
      return {0.999, 0.98};
    case DurationBasis::Size:
    case DurationBasis::Limit:
      return {0.995, 0.5};
    default:
      return {0.99, 0.5};
  }
}

/// Sizes within a factor of 2^(1/4) are alike: round(2 log2 GPUs).
int32_t size_class(int32_t num_gpus) {
  if (num_gpus <= 1) return num_gpus - 1;
  // Comparing squares: n >= 2^(k/2 + 1/4) if n^4 >= 2^(2k + 1).
  const auto squared = static_cast<uint64_t>(num_gpus) * static_cast<uint64_t>(num_gpus);
  const int floor_class = static_cast<int>(std::bit_width(squared)) - 1;  // floor(2 log2 n)
  const auto ratio = static_cast<double>(squared) / std::ldexp(1.0, floor_class);  // in [1, 2)
  return ratio * ratio >= 2 ? floor_class + 1 : floor_class;
}

/// A job is killed at its limit: what lies above moves into the bin of the limit.
void cut_at(DurationDistribution& distribution, double limit_s) {
  constexpr double kJustBelow = 0.999;
  const auto last = static_cast<size_t>(scale_position(kJustBelow * limit_s));
  for (size_t bin = last + 1; bin < kDurationBins; ++bin) {
    distribution[last] += distribution[bin];
    distribution[bin] = 0;
  }
}

}  // namespace

size_t DurationPredictor::KeyHash::operator()(const Key& key) const {
  uint64_t hash = static_cast<uint64_t>(key.basis);
  const auto mix = [&hash](uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  };
  mix(key.who);
  mix(key.what);
  mix(static_cast<uint32_t>(key.size));
  mix(key.limit_s);
  return hash;
}

DurationPredictor::DurationPredictor(size_t groups_max) : groups_max_(groups_max) {
  GOBAN_CHECK(groups_max >= Keys{}.keys.size() && groups_max < UINT32_MAX);
}

DurationPredictor::Keys DurationPredictor::keys_of(const DurationTraits& job) {
  Keys out;
  const auto add = [&out](Key key) { out.keys[out.count++] = key; };
  const int32_t size = size_class(job.num_gpus);
  constexpr double kLimitMax_s = 4e9;
  const auto limit_s = static_cast<uint32_t>(std::min(job.limit_s, kLimitMax_s));
  add({.basis = DurationBasis::AllRuns});
  add({.basis = DurationBasis::Size, .what = job.partition.value, .size = size});
  if (limit_s > 0) add({.basis = DurationBasis::Limit, .limit_s = limit_s});
  if (job.account.valid()) {
    add({.basis = DurationBasis::Account, .who = job.account.value});
    add({.basis = DurationBasis::AccountSize, .who = job.account.value, .size = size});
  }
  if (!job.user.valid()) return out;
  const uint32_t user = job.user.value;
  add({.basis = DurationBasis::User, .who = user});
  add({.basis = DurationBasis::UserSize, .who = user, .what = job.partition.value, .size = size});
  if (limit_s > 0) {
    add({.basis = DurationBasis::UserLimit, .who = user, .size = size, .limit_s = limit_s});
  }
  const auto add_both = [&](DurationBasis plain, DurationBasis sized, uint32_t what) {
    add({.basis = plain, .who = user, .what = what});
    add({.basis = sized, .who = user, .what = what, .size = size, .limit_s = limit_s});
  };
  if (job.name.valid()) {
    add_both(DurationBasis::UserName, DurationBasis::UserNameSize, job.name.value);
  }
  if (job.script != 0) {
    add_both(DurationBasis::UserScript, DurationBasis::UserScriptSize, job.script);
  }
  return out;
}

const DurationPredictor::Group* DurationPredictor::find(const Key& key) const {
  const auto found = index_.find(key);
  return found == index_.end() ? nullptr : &groups_[found->second];
}

uint8_t DurationPredictor::familiarity(const DurationTraits& job) const {
  constexpr double kKnown = 0.5;
  constexpr double kWellKnown = 8;
  Key key{.basis = DurationBasis::AllRuns};
  if (job.user.valid()) {
    key = {.basis = DurationBasis::User, .who = job.user.value};
  } else if (job.account.valid()) {
    key = {.basis = DurationBasis::Account, .who = job.account.value};
  }
  const Group* group = find(key);
  const double runs = group == nullptr ? 0 : group->slow.runs();
  return runs < kKnown ? 0 : (runs < kWellKnown ? 1 : 2);
}

DurationForecast DurationPredictor::predict(const DurationTraits& job) const {
  DurationForecast out;
  DurationDistribution mixture{};
  mixture.fill(1.0 / kDurationBins);
  DurationDistribution steady = mixture;
  const Keys keys = keys_of(job);
  for (size_t i = 0; i < keys.count; ++i) {
    const Group* group = find(keys.keys[i]);
    if (group == nullptr) continue;
    group->slow.mix_into(mixture, kSlowPrior);
    group->fast.mix_into(mixture, kFastPrior);
    group->slow.mix_into(steady, kSlowPrior);
    out.basis = group->key.basis;
  }
  if (job.limit_s > 0) {
    cut_at(mixture, job.limit_s);
    cut_at(steady, job.limit_s);
  }
  for (size_t i = 0; i < kLossLevels.size(); ++i) {
    const auto at = [&](const DurationDistribution& of) {
      return static_cast<float>(
          within_limit(job, seconds_at(position_of_level(of, kLossLevels[i]))));
    };
    out.of_mixtures[0][i] = at(mixture);
    out.of_mixtures[1][i] = at(steady);
  }
  const double weight = weight_of_fast();
  for (size_t bin = 0; bin < kDurationBins; ++bin) {
    mixture[bin] = weight * mixture[bin] + (1 - weight) * steady[bin];
  }
  std::ranges::transform(mixture, out.distribution.begin(),
                         [](double share) { return static_cast<float>(share); });
  out.familiarity = familiarity(job);
  if (learned_ < kRunsMin) {
    out.basis = job.limit_s > 0 ? DurationBasis::LimitOnly : DurationBasis::Unknown;
    out.quantiles_s.fill(job.limit_s);
    out.p10_s = out.p25_s = out.p50_s = out.p75_s = out.p90_s = job.limit_s;
    return out;
  }
  const LevelCalibration& calibration = calibrations_[out.familiarity];
  const auto quantile = [&](double level) {
    return within_limit(job, seconds_at(position_of_level(mixture, calibration.level(level))));
  };
  for (size_t i = 0; i < out.quantiles_s.size(); ++i) {
    out.quantiles_s[i] = quantile((static_cast<double>(i) + 0.5) / DurationForecast::kQuantiles);
  }
  out.p10_s = quantile(0.1);
  out.p25_s = quantile(0.25);
  out.p50_s = quantile(0.5);
  out.p75_s = quantile(0.75);
  out.p90_s = quantile(0.9);
  return out;
}

double DurationPredictor::weight_of_fast() const {
  return 1 / (1 + base::portable_exp(losses_[0] - losses_[1]));
}

void DurationPredictor::learn_losses(const DurationForecast& forecast, double run_s) {
  const auto ln = [](double seconds) {
    return base::portable_log(std::max(seconds, kLossShortest_s));
  };
  if (forecast.of_mixtures[0][1] <= 0) return;  // made by a release that knew one mixture
  for (size_t mixture = 0; mixture < losses_.size(); ++mixture) {
    double loss = 0;
    for (size_t i = 0; i < kLossLevels.size(); ++i) {
      const double over = ln(run_s) - ln(static_cast<double>(forecast.of_mixtures[mixture][i]));
      loss += over >= 0 ? kLossLevels[i] * over : (kLossLevels[i] - 1) * over;
    }
    losses_[mixture] =
        losses_[mixture] * kLossKept + loss / static_cast<double>(kLossLevels.size());
  }
}

void DurationPredictor::learn(const DurationTraits& job, const DurationForecast& forecast,
                              double run_s) {
  const double counted_s = within_limit(job, run_s);
  const double position = scale_position(counted_s);
  learn_losses(forecast, counted_s);
  DurationDistribution distribution{};
  std::ranges::copy(forecast.distribution, distribution.begin());
  calibrations_[forecast.familiarity].learn(level_of_position(distribution, position));
  const Keys keys = keys_of(job);
  for (size_t i = 0; i < keys.count; ++i) {
    Group& group = touch(keys.keys[i]);
    const Forgetting kept = forgetting_of(group.key.basis);
    group.slow.learn(position, kept.slow);
    group.fast.learn(position, kept.fast);
  }
  ++learned_;
}

DurationPredictor::Group& DurationPredictor::touch(const Key& key) {
  const auto found = index_.find(key);
  if (found != index_.end()) {
    unlink(found->second);
    link_last(found->second);
    return groups_[found->second];
  }
  uint32_t at = static_cast<uint32_t>(groups_.size());
  if (groups_.size() < groups_max_) {
    groups_.emplace_back();
  } else {
    at = oldest_;
    index_.erase(groups_[at].key);
    unlink(at);
    groups_[at] = {};
  }
  groups_[at].key = key;
  index_.emplace(key, at);
  link_last(at);
  return groups_[at];
}

void DurationPredictor::unlink(uint32_t at) {
  const Group& group = groups_[at];
  (group.older == UINT32_MAX ? oldest_ : groups_[group.older].newer) = group.newer;
  (group.newer == UINT32_MAX ? newest_ : groups_[group.newer].older) = group.older;
}

void DurationPredictor::link_last(uint32_t at) {
  groups_[at].older = newest_;
  groups_[at].newer = UINT32_MAX;
  (newest_ == UINT32_MAX ? oldest_ : groups_[newest_].newer) = at;
  newest_ = at;
}

void DurationPredictor::write(std::string& out) const {
  base::put(out, learned_);
  for (const LevelCalibration& each : calibrations_) each.write(out);
  for (const double loss : losses_) base::put(out, loss);
  base::put_varint(out, index_.size());
  for (uint32_t at = oldest_; at != UINT32_MAX; at = groups_[at].newer) {
    const Group& group = groups_[at];
    base::put(out, static_cast<uint8_t>(group.key.basis));
    base::put(out, group.key.who);
    base::put(out, group.key.what);
    base::put(out, group.key.size);
    base::put(out, group.key.limit_s);
    group.slow.write(out);
    group.fast.write(out);
  }
}

bool DurationPredictor::read(base::ByteReader& in, int format) {
  learned_ = in.get<uint64_t>();
  for (LevelCalibration& each : calibrations_) {
    if (!each.read(in)) return false;
  }
  for (double& loss : losses_) {
    if (format >= 2) loss = in.get<double>();
    if (!std::isfinite(loss) || loss < 0) return false;
  }
  const uint64_t count = in.varint();
  if (count > groups_max_) return false;
  for (uint64_t i = 0; i < count && in.good(); ++i) {
    const auto basis = in.get<uint8_t>();
    if (basis >= kDurationBases) return false;
    Key key{.basis = static_cast<DurationBasis>(basis)};
    key.who = in.get<uint32_t>();
    key.what = in.get<uint32_t>();
    key.size = in.get<int32_t>();
    key.limit_s = in.get<uint32_t>();
    Group& group = touch(key);
    if (!group.slow.read(in) || !group.fast.read(in)) return false;
  }
  return in.good() && index_.size() == count;
}

}  // namespace goban::core::knowledge
