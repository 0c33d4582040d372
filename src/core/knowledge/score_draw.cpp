#include "core/knowledge/score_draw.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/check.hpp"
#include "base/random.hpp"
#include "core/knowledge/robust_scores.hpp"

namespace goban::core::knowledge {
namespace {

using base::Random;

// Separate random streams of one seed for GPUs and runs, so that neither affects the other.
constexpr uint64_t kGpuStream = 1;
constexpr uint64_t kRunStream = 1001;

Random stream(uint64_t seed, uint64_t number) {
  Random seeds(seed);
  uint64_t mixed = seeds() ^ (number * 0x9e3779b97f4a7c15ULL);
  return Random(Random(mixed)());
}

std::vector<uint32_t> draw_gpus(uint32_t num_gpus, size_t pool_size, Random random) {
  std::vector<uint32_t> drawn;
  drawn.reserve(num_gpus);
  std::vector<uint32_t> pool;
  while (drawn.size() < num_gpus) {
    if (pool.empty()) {
      for (uint32_t gpu = 0; gpu < pool_size; ++gpu) pool.push_back(gpu);
    }
    std::swap(pool[random.below(pool.size())], pool.back());
    drawn.push_back(pool.back());
    pool.pop_back();
  }
  return drawn;
}

std::vector<double> scores_by_gpu(const ProfileRuns& profile, ScoreMode mode) {
  if (mode == ScoreMode::Median) return median_scores(profile);
  std::vector<double> scores;
  for (const RobustScore& robust : robust_scores(profile)) scores.push_back(robust.score);
  return scores;
}

}  // namespace

base::Result<ScoreMode> parse_score_mode(std::string_view name) {
  if (name == "robust") return ScoreMode::Robust;
  if (name == "median") return ScoreMode::Median;
  if (name == "run") return ScoreMode::Run;
  return base::usage_error(fmt::format("unknown score mode '{}'", name),
                           "known: robust, median, run");
}

ScoreDraw draw_scores(uint32_t num_gpus, std::span<const ProfileRuns* const> by_class,
                      ScoreMode mode, uint64_t seed) {
  GOBAN_CHECK(!by_class.empty());
  ScoreDraw draw;
  for (size_t c = 0; c < by_class.size(); ++c) {
    const ProfileRuns& profile = *by_class[c];
    GOBAN_CHECK(profile.num_gpus() > 0);
    const auto same = std::ranges::find(by_class, by_class[c]);
    const auto first = static_cast<size_t>(same - by_class.begin());
    draw.drawn.push_back(
        first < c ? draw.drawn[first]
                  : draw_gpus(num_gpus, profile.num_gpus(), stream(seed, kGpuStream + c)));
    draw.repeated = draw.repeated || num_gpus > profile.num_gpus();
    std::vector<double> raw;
    raw.reserve(num_gpus);
    if (mode == ScoreMode::Run) {
      Random random = stream(seed, kRunStream + c);
      for (const uint32_t gpu : draw.drawn[c]) {
        const std::vector<double>& runs = profile.runs[gpu];
        raw.push_back(runs[random.below(runs.size())]);
      }
    } else {
      const std::vector<double> scores = scores_by_gpu(profile, mode);
      for (const uint32_t gpu : draw.drawn[c]) raw.push_back(scores[gpu]);
    }
    draw.raw_by_class.push_back(std::move(raw));
  }
  return draw;
}

}  // namespace goban::core::knowledge
