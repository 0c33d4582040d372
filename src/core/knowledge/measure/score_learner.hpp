// Learns scores from finished jobs without trusting any single user.
//
// Speeds that a job reports may be wrong or malicious, and the all-reduce of a gang makes all of
// its GPUs appear as slow as the slowest. Therefore:
//  - only the time that each rank computes between collectives can change a score;
//  - the time of a rank is compared with that of the same application on other GPUs, so that a slow
//    or fake application is not evidence about a GPU;
//  - the runs of a user on a GPU count as one sample, however many there are. The score becomes the
//    median of the samples if at least `users_min` of them, and more than half, deviate in the same
//    direction, and the profiler did not measure the GPU recently;
//  - weaker evidence makes the GPU suspect, and the profiler measures it again (refresh_plan.hpp).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/knowledge/pm_scores.hpp"

namespace goban::core::knowledge {

/// Source of the times of a run.
enum class TimeSource : uint8_t {
  Progress,     ///< progress reports of the job, including waits in collectives
  RankCompute,  ///< per-rank compute time, without waits in collectives
};

/// A finished run.
struct RunEvidence {
  uint32_t user = 0;
  uint32_t application = 0;  ///< of this user: same model, batch size and number of GPUs
  AppClass app_class{};
  TimeSource source = TimeSource::Progress;
  bool shared = false;  ///< had neighbours on a GPU: not usable
  std::vector<GpuId> gpus{};
  std::vector<double> step_s{};  ///< by GPU; for Progress one value for all
};

struct LearnOptions {
  uint32_t users_min = 3;
  double tolerance = 0.05;         ///< of log(score): smaller differences are ignored
  size_t window = 24;              ///< runs kept per GPU and class
  size_t voice_runs = 3;           ///< a user's sample is the median of this many last runs
  size_t voice_runs_min = 2;       ///< minimum number of runs for a sample
  size_t baseline_gpus_min = 3;    ///< minimum number of other GPUs to know an application's speed
  size_t applications_max = 4096;  ///< kept, those that ran last
};

/// Deterministic. A run costs O(its GPUs x window).
class ScoreLearner {
 public:
  /// `raw_by_class`: [class][gpu], as the profiler measured them.
  explicit ScoreLearner(std::vector<std::vector<double>> raw_by_class, LearnOptions options = {});

  /// log(score) of a GPU according to one run.
  struct Vote {
    uint32_t user = 0;
    double log_score = 0;
    friend bool operator==(const Vote&, const Vote&) = default;
  };
  /// Evidence about one GPU and class since its score last changed.
  struct Place {
    std::deque<Vote> votes{};
    bool suspect = false;
    friend bool operator==(const Place&, const Place&) = default;
  };
  /// An application of a user: the last log(step / score), by GPU.
  struct Baseline {
    std::map<uint32_t, double> log_unit{};
    uint64_t used = 0;  ///< number of the last run that used it
    friend bool operator==(const Baseline&, const Baseline&) = default;
  };
  /// The complete state.
  struct Image {
    std::vector<std::vector<double>> raw{};    ///< [class][gpu]
    std::vector<std::vector<Place>> places{};  ///< [class][gpu]
    /// By user and application.
    std::map<std::pair<uint32_t, uint32_t>, Baseline> baselines{};
    uint64_t runs = 0;
    friend bool operator==(const Image&, const Image&) = default;
  };
  [[nodiscard]] const Image& image() const { return image_; }
  /// Continues from an image with at least one class and the same number of GPUs in every class.
  explicit ScoreLearner(Image image, LearnOptions options = {});

  /// By GPU: the profiler measured it recently. Evidence makes a fresh GPU suspect but does not
  /// change its score. Default: none is fresh.
  void set_fresh(std::vector<bool> fresh) { fresh_ = std::move(fresh); }
  void observe(const RunEvidence& run);
  /// Sets the scores of a GPU, by class, to a measurement; discards evidence and suspicion.
  void measured(GpuId gpu, std::span<const double> score_by_class);
  /// Sets the scores after a change of the median GPU; keeps the evidence.
  void rescaled(GpuId gpu, std::span<const double> score_by_class);

  [[nodiscard]] const std::vector<std::vector<double>>& raw_by_class() const { return image_.raw; }
  /// GPUs whose scores evidence from jobs disagrees with, ascending.
  [[nodiscard]] std::vector<GpuId> suspects() const;
  /// Number of unusable runs: with neighbours, or gangs without per-rank times.
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
