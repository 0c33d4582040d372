// Scores that keep learning from finished jobs without believing any one user.
//
// What a job says of its own speed may be a mistake or a lie, and the all-reduce of a gang makes
// all of its GPUs look as slow as the slowest. So:
//  - a score moves only by the time that each rank computed between collectives;
//  - a rank's time is compared with the same application's on other GPUs, so that a slow or a
//    made-up application says nothing of a GPU;
//  - each user has one voice per GPU, however many jobs he runs; the voices' median counts, and the
//    score moves when at least `users_min` of them, and more than half, say the same;
//  - whatever less is known makes the GPU suspect: the profiler shall measure it
//  (refresh_plan.hpp).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "profile/pm_scores.hpp"

namespace goban::profile {

/// Where the times of a run come from.
enum class TimeSource : uint8_t {
  Progress,     ///< steps by the job's own word, waits of collectives included
  RankCompute,  ///< by rank, without the waits of collectives
};

/// A finished run.
struct RunEvidence {
  uint32_t user = 0;
  uint32_t application = 0;  ///< of this user: equal model, batch size and number of GPUs
  AppClass app_class{};
  TimeSource source = TimeSource::Progress;
  bool shared = false;  ///< had neighbours on a GPU: says nothing of the GPU alone
  std::vector<GpuId> gpus{};
  std::vector<double> step_s{};  ///< by GPU; of Progress: one value for all
};

struct LearnOptions {
  uint32_t users_min = 3;
  double tolerance = 0.05;       ///< of log score: smaller differences move nothing
  size_t window = 24;            ///< runs on a GPU that are remembered
  size_t voice_runs = 3;         ///< a user's voice is the median of his last so many ...
  size_t voice_runs_min = 2;     ///< ... and needs so many
  size_t baseline_gpus_min = 3;  ///< an application's own speed is known from so many GPUs
};

/// Deterministic; cost of a run: its GPUs x window.
class ScoreLearner {
 public:
  /// `raw_by_class`: [class][gpu], as the profiler measured them.
  explicit ScoreLearner(std::vector<std::vector<double>> raw_by_class, LearnOptions options = {});

  void observe(const RunEvidence& run);
  /// The profiler measured a GPU: its word counts, by class, and doubts are over.
  void measured(GpuId gpu, std::span<const double> score_by_class);

  [[nodiscard]] const std::vector<std::vector<double>>& raw_by_class() const { return raw_; }
  /// GPUs that jobs disagree with, lowest first.
  [[nodiscard]] std::vector<GpuId> suspects() const;
  /// Runs of which nothing could be learnt: shared, or a gang without times by rank.
  [[nodiscard]] int64_t unused() const { return unused_; }

 private:
  /// log(score) of a GPU as one run saw it.
  struct Vote {
    uint32_t user = 0;
    double log_score = 0;
  };
  struct Place {
    std::deque<Vote> votes;
    bool suspect = false;
  };
  /// An application of a user: log(step / score) last seen on each GPU.
  using Baseline = std::map<uint32_t, double>;

  void vote(const RunEvidence& run, GpuId gpu, double step_s);
  void decide(size_t app_class, GpuId gpu);

  LearnOptions options_;
  std::vector<std::vector<double>> raw_;
  std::vector<std::vector<Place>> places_;  ///< [class][gpu]
  std::map<std::pair<uint32_t, uint32_t>, Baseline> baselines_;
  int64_t unused_ = 0;
};

}  // namespace goban::profile
