// The scores of a machine's GPUs while jobs run, with their sources: the profiler, agreeing
// evidence from jobs, or a score table from an operator. The latest source of a GPU applies until
// its driver changes or kScoreAgeMax_s has passed; then the score expires and is 1.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/knowledge/measure/findings.hpp"
#include "core/knowledge/measure/score_learner.hpp"

namespace goban::core::knowledge {

/// Time after its measurement for which a score is fresh: evidence from jobs makes the GPU suspect
/// but does not change the score.
inline constexpr int64_t kFreshScore_s = int64_t{24} * 3600;

/// State of the score of one GPU, for display.
struct ScoreFacts {
  bool expired = false;         ///< it is 1 until the GPU is measured again
  bool suspect = false;         ///< evidence from jobs disagrees with it
  int64_t measured_unix_s = 0;  ///< its last measurement that has not expired; 0 = none
};

/// [class][gpu].
using ScoreTable = std::vector<std::vector<double>>;

/// Deterministic: times are arguments.
class LearnedScores {
 public:
  /// Source of the score of a GPU.
  struct Word {
    std::string uuid{};
    GpuCondition condition{};   ///< as of the last look()
    bool looked = false;        ///< look() was called
    int64_t spoken_unix_s = 0;  ///< jobs or a table changed it after taken_unix_s; 0 = no
    int64_t taken_unix_s = 0;   ///< date of the last measurement that was applied
    bool expired = false;
    friend bool operator==(const Word&, const Word&) = default;
  };
  /// An observed job: its number and submit time.
  using Seen = std::pair<uint64_t, int64_t>;
  struct Image {
    std::vector<Word> words{};  ///< by GPU
    ScoreLearner::Image learner{};
    std::vector<Seen> seen{};  ///< oldest first; at most kSeenMax
    friend bool operator==(const Image&, const Image&) = default;
  };
  static constexpr size_t kSeenMax = 1024;

  /// `counting`: the scores in effect, at least one class.
  LearnedScores(const std::vector<std::string>& uuids, ScoreTable counting,
                const LearnOptions& options = {});
  /// Continues from an image; ignored unless it has the same GPUs and number of classes.
  void restore(Image image);
  [[nodiscard]] Image image() const;

  /// The scores in effect in the scheduler are now `now`; those that differ from `before` were set
  /// by a score table.
  void counting(const ScoreTable& before, const ScoreTable& now, int64_t now_unix_s);
  /// Evaluates the measurement log under the GPUs' present conditions. Returns the GPUs whose score
  /// expired in this call.
  std::vector<size_t> look(const MeasureBook& book, std::span<const GpuNow> gpus,
                           int64_t now_unix_s);
  /// Adds a finished run. Returns the GPUs whose score changed.
  std::vector<size_t> observe(RunEvidence run, int64_t now_unix_s);
  /// True at the first call for a job; only the last kSeenMax jobs are remembered.
  bool see(Seen job);

  [[nodiscard]] const ScoreTable& table() const { return learner_.raw_by_class(); }
  [[nodiscard]] std::vector<ScoreFacts> facts(int64_t now_unix_s) const;

 private:
  [[nodiscard]] std::vector<double> scores_of_gpu(const ScoreTable& table, size_t gpu) const;
  void expire(size_t gpu);
  /// The score of the GPU was determined under another condition, or too long ago.
  [[nodiscard]] bool outlived(size_t gpu, const GpuScores& measured, bool changed,
                              int64_t now_unix_s) const;
  /// Applies a measurement of the profiler, unless a later source exists.
  void take(size_t gpu, const GpuSession& session, const std::vector<double>& measured);

  LearnOptions options_;
  std::vector<Word> words_;
  ScoreLearner learner_;
  std::vector<Seen> seen_;
};

}  // namespace goban::core::knowledge
