#include "core/knowledge/measure/score_learner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.hpp"
#include "core/knowledge/median.hpp"
#include "core/knowledge/scores_file.hpp"

namespace goban::core::knowledge {

ScoreLearner::ScoreLearner(std::vector<std::vector<double>> raw_by_class, LearnOptions options)
    : options_(options), image_{.raw = std::move(raw_by_class)} {
  for (const auto& scores : image_.raw) image_.places.emplace_back(scores.size());
}

ScoreLearner::ScoreLearner(Image image, LearnOptions options)
    : options_(options), image_(std::move(image)) {
  GOBAN_CHECK(!image_.raw.empty() && image_.places.size() == image_.raw.size());
  for (size_t c = 0; c < image_.raw.size(); ++c) {
    GOBAN_CHECK(image_.raw[c].size() == image_.raw[0].size() &&
                image_.places[c].size() == image_.raw[c].size());
  }
}

ScoreLearner::Baseline& ScoreLearner::baseline_of(const RunEvidence& run) {
  auto& known = image_.baselines;
  Baseline& baseline = known[{run.user, run.application}];
  baseline.used = ++image_.runs;
  if (known.size() > options_.applications_max) {
    known.erase(
        std::ranges::min_element(known, {}, [](const auto& each) { return each.second.used; }));
  }
  return baseline;
}

void ScoreLearner::observe(const RunEvidence& run) {
  GOBAN_CHECK(run.app_class.value < image_.raw.size());
  const bool by_rank = run.source == TimeSource::RankCompute;
  const bool usable = !run.shared && run.step_s.size() == run.gpus.size() &&
                      (by_rank || run.gpus.size() == 1) &&
                      std::ranges::all_of(run.step_s, [](double s) { return s > 0 && s < 1e9; });
  if (!usable) {
    ++unused_;
    return;
  }
  Baseline& baseline = baseline_of(run);
  for (size_t i = 0; i < run.gpus.size(); ++i) vote(run, baseline, run.gpus[i], run.step_s[i]);
}

void ScoreLearner::vote(const RunEvidence& run, Baseline& baseline, GpuId gpu, double step_s) {
  const size_t app_class = run.app_class.value;
  const std::vector<double>& raw = image_.raw[app_class];
  GOBAN_CHECK(gpu.index() < raw.size());
  const double log_step = std::log(step_s);
  // Exclude the GPU itself: it would confirm its own score.
  std::vector<double> elsewhere;
  for (const auto& [other, log_unit] : baseline.log_unit) {
    if (other != gpu.value) elsewhere.push_back(log_unit);
  }
  baseline.log_unit[gpu.value] = log_step - std::log(raw[gpu.index()]);
  if (elsewhere.size() < options_.baseline_gpus_min) return;
  const double log_score = log_step - median(std::move(elsewhere));
  Place& place = image_.places[app_class][gpu.index()];
  if (run.source == TimeSource::Progress) {
    const double off = std::abs(log_score - std::log(raw[gpu.index()]));
    place.suspect = place.suspect || off > options_.tolerance;
    return;
  }
  place.votes.push_back({run.user, log_score});
  if (place.votes.size() > options_.window) place.votes.pop_front();
  decide(app_class, gpu);
}

void ScoreLearner::decide(size_t app_class, GpuId gpu) {
  Place& place = image_.places[app_class][gpu.index()];
  std::map<uint32_t, std::vector<double>> last;  // by user, newest first
  for (auto vote = place.votes.rbegin(); vote != place.votes.rend(); ++vote) {
    std::vector<double>& own = last[vote->user];
    if (own.size() < options_.voice_runs) own.push_back(vote->log_score);
  }
  std::vector<double> voices;
  for (auto& [user, own] : last) {
    if (own.size() >= options_.voice_runs_min) voices.push_back(median(std::move(own)));
  }
  double& score = image_.raw[app_class][gpu.index()];
  const double now = std::log(score);
  const auto off = [&](double sign) {
    return static_cast<size_t>(std::ranges::count_if(
        voices, [&](double voice) { return sign * (voice - now) > options_.tolerance; }));
  };
  const size_t agree = std::max(off(1), off(-1));
  place.suspect = agree > 0;
  const bool is_fresh = gpu.index() < fresh_.size() && fresh_[gpu.index()];
  if (is_fresh || agree < options_.users_min || 2 * agree <= voices.size()) return;
  score = std::clamp(std::exp(median(std::move(voices))), kScoreMin, kScoreMax);
  place.votes.clear();
  place.suspect = false;
}

void ScoreLearner::rescaled(GpuId gpu, std::span<const double> score_by_class) {
  for (size_t c = 0; c < image_.raw.size() && c < score_by_class.size(); ++c) {
    image_.raw[c][gpu.index()] = score_by_class[c];
  }
}

void ScoreLearner::measured(GpuId gpu, std::span<const double> score_by_class) {
  rescaled(gpu, score_by_class);
  for (auto& of_class : image_.places) of_class[gpu.index()] = {};
}

std::vector<GpuId> ScoreLearner::suspects() const {
  std::vector<GpuId> out;
  for (uint32_t gpu = 0; gpu < image_.raw.front().size(); ++gpu) {
    if (std::ranges::any_of(image_.places, [&](const auto& of) { return of[gpu].suspect; })) {
      out.emplace_back(gpu);
    }
  }
  return out;
}

}  // namespace goban::core::knowledge
