#include "profile/measure/score_learner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.hpp"
#include "profile/median.hpp"

namespace goban::profile {

ScoreLearner::ScoreLearner(std::vector<std::vector<double>> raw_by_class, LearnOptions options)
    : options_(options), raw_(std::move(raw_by_class)) {
  for (const auto& scores : raw_) places_.emplace_back(scores.size());
}

void ScoreLearner::observe(const RunEvidence& run) {
  GOBAN_CHECK(run.app_class.value < raw_.size());
  const bool by_rank = run.source == TimeSource::RankCompute;
  const bool usable = !run.shared && run.step_s.size() == run.gpus.size() &&
                      (by_rank || run.gpus.size() == 1) &&
                      std::ranges::all_of(run.step_s, [](double s) { return s > 0 && s < 1e9; });
  if (!usable) {
    ++unused_;
    return;
  }
  for (size_t i = 0; i < run.gpus.size(); ++i) vote(run, run.gpus[i], run.step_s[i]);
}

void ScoreLearner::vote(const RunEvidence& run, GpuId gpu, double step_s) {
  const size_t app_class = run.app_class.value;
  GOBAN_CHECK(gpu.index() < raw_[app_class].size());
  const double log_step = std::log(step_s);
  Baseline& baseline = baselines_[{run.user, run.application}];
  // The GPU itself does not count: it would vouch for its own score.
  std::vector<double> elsewhere;
  for (const auto& [other, log_unit] : baseline) {
    if (other != gpu.value) elsewhere.push_back(log_unit);
  }
  baseline[gpu.value] = log_step - std::log(raw_[app_class][gpu.index()]);
  if (elsewhere.size() < options_.baseline_gpus_min) return;
  const double log_score = log_step - median(std::move(elsewhere));
  Place& place = places_[app_class][gpu.index()];
  if (run.source == TimeSource::Progress) {
    const double off = std::abs(log_score - std::log(raw_[app_class][gpu.index()]));
    place.suspect = place.suspect || off > options_.tolerance;
    return;
  }
  place.votes.push_back({run.user, log_score});
  if (place.votes.size() > options_.window) place.votes.pop_front();
  decide(app_class, gpu);
}

void ScoreLearner::decide(size_t app_class, GpuId gpu) {
  Place& place = places_[app_class][gpu.index()];
  std::map<uint32_t, std::vector<double>> last;  // by user, the newest first
  for (auto vote = place.votes.rbegin(); vote != place.votes.rend(); ++vote) {
    std::vector<double>& own = last[vote->user];
    if (own.size() < options_.voice_runs) own.push_back(vote->log_score);
  }
  std::vector<double> voices;
  for (auto& [user, own] : last) {
    if (own.size() >= options_.voice_runs_min) voices.push_back(median(std::move(own)));
  }
  double& score = raw_[app_class][gpu.index()];
  const double now = std::log(score);
  const auto off = [&](double sign) {
    return static_cast<size_t>(std::ranges::count_if(
        voices, [&](double voice) { return sign * (voice - now) > options_.tolerance; }));
  };
  const size_t agree = std::max(off(1), off(-1));
  place.suspect = agree > 0;
  if (agree < options_.users_min || 2 * agree <= voices.size()) return;
  score = std::exp(median(std::move(voices)));
  place.votes.clear();
  place.suspect = false;
}

void ScoreLearner::measured(GpuId gpu, std::span<const double> score_by_class) {
  for (size_t c = 0; c < raw_.size() && c < score_by_class.size(); ++c) {
    raw_[c][gpu.index()] = score_by_class[c];
    places_[c][gpu.index()] = {};
  }
}

std::vector<GpuId> ScoreLearner::suspects() const {
  std::vector<GpuId> out;
  for (uint32_t gpu = 0; gpu < raw_.front().size(); ++gpu) {
    if (std::ranges::any_of(places_, [&](const auto& of) { return of[gpu].suspect; })) {
      out.emplace_back(gpu);
    }
  }
  return out;
}

}  // namespace goban::profile
