#include "core/knowledge/measure/learned_scores.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace goban::core::knowledge {

LearnedScores::LearnedScores(const std::vector<std::string>& uuids, ScoreTable counting,
                             const LearnOptions& options)
    : options_(options), learner_(std::move(counting), options) {
  for (const std::string& uuid : uuids) words_.push_back({.uuid = uuid});
  GOBAN_CHECK(!table().empty() && table().front().size() == words_.size());
}

void LearnedScores::restore(Image image) {
  const bool same_gpus = std::ranges::equal(image.words, words_, {}, &Word::uuid, &Word::uuid);
  if (!same_gpus || image.learner.raw.size() != table().size()) return;
  words_ = std::move(image.words);
  learner_ = ScoreLearner(std::move(image.learner), options_);
  seen_ = std::move(image.seen);
}

LearnedScores::Image LearnedScores::image() const {
  return {.words = words_, .learner = learner_.image(), .seen = seen_};
}

std::vector<double> LearnedScores::scores_of_gpu(const ScoreTable& table, size_t gpu) const {
  std::vector<double> out;
  for (size_t c = 0; c < learner_.raw_by_class().size(); ++c) {
    out.push_back(table[std::min(c, table.size() - 1)][gpu]);
  }
  return out;
}

void LearnedScores::counting(const ScoreTable& before, const ScoreTable& now, int64_t now_unix_s) {
  for (uint32_t gpu = 0; gpu < words_.size(); ++gpu) {
    const std::vector<double> scores = scores_of_gpu(now, gpu);
    if (scores_of_gpu(before, gpu) == scores) continue;
    learner_.measured(GpuId(gpu), scores);
    words_[gpu].spoken_unix_s = now_unix_s;
    words_[gpu].expired = false;
  }
}

void LearnedScores::expire(size_t gpu) {
  learner_.measured(GpuId(static_cast<uint32_t>(gpu)), std::vector<double>(table().size(), 1.0));
  words_[gpu].spoken_unix_s = 0;
  words_[gpu].taken_unix_s = 0;
  words_[gpu].expired = true;
}

bool LearnedScores::outlived(size_t gpu, const GpuScores& measured, bool changed,
                             int64_t now_unix_s) const {
  if (!measured.expired) return false;
  const Word& word = words_[gpu];
  const std::vector<double> scores = scores_of_gpu(table(), gpu);
  const bool known = word.taken_unix_s > 0 || word.spoken_unix_s > 0 ||
                     std::ranges::any_of(scores, [](double score) { return score != 1; });
  if (changed) return known;
  if (word.spoken_unix_s > 0) return now_unix_s - word.spoken_unix_s > kScoreAgeMax_s;
  return measured.expired_sessions > 0 && !word.expired;
}

void LearnedScores::take(size_t gpu, const GpuSession& session,
                         const std::vector<double>& measured) {
  Word& word = words_[gpu];
  const std::vector<double> now = scores_of_gpu(table(), gpu);
  const bool same = std::ranges::equal(now, measured, [](double one, double other) {
    constexpr double kRounding = 1e-9;
    return std::abs(one - other) <= kRounding * other;
  });
  if (session.unix_s < word.spoken_unix_s && !same) return;
  const GpuId id(static_cast<uint32_t>(gpu));
  if (session.unix_s > word.taken_unix_s) {
    learner_.measured(id, measured);
  } else {
    learner_.rescaled(id, measured);
  }
  word.taken_unix_s = session.unix_s;
  word.spoken_unix_s = 0;
  word.expired = false;
}

std::vector<size_t> LearnedScores::look(const MeasureBook& book, std::span<const GpuNow> gpus,
                                        int64_t now_unix_s) {
  GOBAN_CHECK(gpus.size() == words_.size());
  const MachineScores measured = scores_of(book, gpus, now_unix_s);
  const ScoreTable scores = raw_by_class(measured);
  std::vector<size_t> expired;
  for (size_t i = 0; i < gpus.size(); ++i) {
    Word& word = words_[i];
    const bool changed = word.looked && !(word.condition == gpus[i].condition);
    word.condition = gpus[i].condition;
    word.looked = true;
    if (outlived(i, measured.gpus[i], changed, now_unix_s)) {
      expire(i);
      expired.push_back(i);
    }
    if (changed) word.spoken_unix_s = 0;  // earlier evidence is void
    if (!measured.gpus[i].expired) take(i, *measured.gpus[i].last, scores_of_gpu(scores, i));
  }
  return expired;
}

std::vector<size_t> LearnedScores::observe(RunEvidence run, int64_t now_unix_s) {
  if (std::ranges::any_of(run.gpus, [&](GpuId gpu) { return gpu.index() >= words_.size(); })) {
    return {};
  }
  run.app_class.value =
      static_cast<uint8_t>(std::min<size_t>(run.app_class.value, table().size() - 1));
  std::vector<bool> fresh;
  for (const Word& word : words_) {
    fresh.push_back(word.taken_unix_s > 0 && now_unix_s - word.taken_unix_s < kFreshScore_s);
  }
  learner_.set_fresh(std::move(fresh));
  const ScoreTable before = table();
  learner_.observe(run);
  std::vector<size_t> moved;
  for (size_t i = 0; i < words_.size(); ++i) {
    if (scores_of_gpu(before, i) == scores_of_gpu(table(), i)) continue;
    words_[i].spoken_unix_s = now_unix_s;
    words_[i].expired = false;
    moved.push_back(i);
  }
  return moved;
}

bool LearnedScores::see(Seen job) {
  if (std::ranges::find(seen_, job) != seen_.end()) return false;
  if (seen_.size() >= kSeenMax) seen_.erase(seen_.begin());
  seen_.push_back(job);
  return true;
}

std::vector<ScoreFacts> LearnedScores::facts(int64_t now_unix_s) const {
  std::vector<ScoreFacts> out;
  for (const Word& word : words_) {
    const bool counts = word.taken_unix_s > 0 && now_unix_s - word.taken_unix_s <= kScoreAgeMax_s;
    out.push_back({.expired = word.expired, .measured_unix_s = counts ? word.taken_unix_s : 0});
  }
  for (const GpuId gpu : learner_.suspects()) out[gpu.index()].suspect = true;
  return out;
}

}  // namespace goban::core::knowledge
