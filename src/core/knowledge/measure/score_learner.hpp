// Scores that keep learning from finished jobs without believing any one user.
//
// What a job says of its own speed may be a mistake or a lie, and the all-reduce of a gang makes
// all of its GPUs look as slow as the slowest. So:
//  - a score moves only by the time that each rank computed between collectives;
//  - a rank's time is compared with the same application's on other GPUs, so that a slow or a
//    made-up application says nothing of a GPU;
//  - each user has one voice per GPU, however many jobs he runs; the voices' median counts, and the
//    score moves when at least `users_min` of them, and more than half, say the same, unless the
//    profiler measured the GPU lately;
//  - whatever less is known makes the GPU suspect: the profiler shall measure it
//  (refresh_plan.hpp).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/knowledge/pm_scores.hpp"

namespace goban::core::knowledge {

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
  double tolerance = 0.05;         ///< of log score: smaller differences move nothing
  size_t window = 24;              ///< runs on a GPU that are remembered
  size_t voice_runs = 3;           ///< a user's voice is the median of his last so many ...
  size_t voice_runs_min = 2;       ///< ... and needs so many
  size_t baseline_gpus_min = 3;    ///< an application's own speed is known from so many GPUs
  size_t applications_max = 4096;  ///< are remembered, those that ran last
};

/// Deterministic; cost of a run: its GPUs x window.
class ScoreLearner {
 public:
  /// `raw_by_class`: [class][gpu], as the profiler measured them.
  explicit ScoreLearner(std::vector<std::vector<double>> raw_by_class, LearnOptions options = {});

  /// log(score) of a GPU as one run saw it.
  struct Vote {
    uint32_t user = 0;
    double log_score = 0;
    friend bool operator==(const Vote&, const Vote&) = default;
  };
  /// What was said of one GPU and class since its score last changed.
  struct Place {
    std::deque<Vote> votes{};
    bool suspect = false;
    friend bool operator==(const Place&, const Place&) = default;
  };
  /// An application of a user: log(step / score) last seen, by GPU.
  struct Baseline {
    std::map<uint32_t, double> log_unit{};
    uint64_t used = 0;  ///< the run that used it last, counted
    friend bool operator==(const Baseline&, const Baseline&) = default;
  };
  /// All that it knows.
  struct Image {
    std::vector<std::vector<double>> raw{};    ///< [class][gpu]
    std::vector<std::vector<Place>> places{};  ///< [class][gpu]
    /// By user and application.
    std::map<std::pair<uint32_t, uint32_t>, Baseline> baselines{};
    uint64_t runs = 0;
    friend bool operator==(const Image&, const Image&) = default;
  };
  [[nodiscard]] const Image& image() const { return image_; }
  /// Goes on from an image with at least one class and equally many GPUs everywhere.
  explicit ScoreLearner(Image image, LearnOptions options = {});

  /// The profiler measured these lately, by GPU: what jobs say makes them suspect and moves
  /// nothing, whoever agrees. Without it none was.
  void set_fresh(std::vector<bool> fresh) { fresh_ = std::move(fresh); }
  void observe(const RunEvidence& run);
  /// The profiler measured a GPU: its word counts, by class, and doubts are over.
  void measured(GpuId gpu, std::span<const double> score_by_class);
  /// The same scores, against another median GPU: what was said of it stays.
  void rescaled(GpuId gpu, std::span<const double> score_by_class);

  [[nodiscard]] const std::vector<std::vector<double>>& raw_by_class() const { return image_.raw; }
  /// GPUs that jobs disagree with, lowest first.
  [[nodiscard]] std::vector<GpuId> suspects() const;
  /// Runs of which nothing could be learnt: shared, or a gang without times by rank.
  [[nodiscard]] int64_t unused() const { return unused_; }

 private:
  void vote(const RunEvidence& run, Baseline& baseline, GpuId gpu, double step_s);
  void decide(size_t app_class, GpuId gpu);
  Baseline& baseline_of(const RunEvidence& run);

  LearnOptions options_;
  Image image_{};
  std::vector<bool> fresh_{};
  int64_t unused_ = 0;
};

}  // namespace goban::core::knowledge
