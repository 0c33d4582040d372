// The scores of a machine's GPUs while jobs run, and whose word each is: the profiler's, that of
// jobs that agree, or that of whoever sent a table. The last word on a GPU counts, until its driver
// changes or a month has passed: then nothing is known of it, and its score is 1.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/knowledge/measure/findings.hpp"
#include "core/knowledge/measure/score_learner.hpp"

namespace goban::core::knowledge {

/// A score is fresh for so long after its measurement: jobs make it suspect, and move nothing.
inline constexpr int64_t kFreshScore_s = int64_t{24} * 3600;

/// What is known of the score of one GPU, for people.
struct ScoreFacts {
  bool expired = false;         ///< it was known, and is 1 now until the GPU is measured again
  bool suspect = false;         ///< jobs disagree with it
  int64_t measured_unix_s = 0;  ///< its last measurement that still counts; 0 = none
};

/// [class][gpu].
using ScoreTable = std::vector<std::vector<double>>;

/// Deterministic: times are given.
class LearnedScores {
 public:
  /// Whose word the score of a GPU is.
  struct Word {
    std::string uuid{};
    GpuCondition condition{};   ///< as of the last look
    bool looked = false;        ///< there was one
    int64_t spoken_unix_s = 0;  ///< when jobs or a sender spoke last; 0 = nobody after the profiler
    int64_t taken_unix_s = 0;   ///< its last measurement that was taken over
    bool expired = false;
    friend bool operator==(const Word&, const Word&) = default;
  };
  /// A job that was observed: its number, and when it was submitted.
  using Seen = std::pair<uint64_t, int64_t>;
  struct Image {
    std::vector<Word> words{};  ///< by GPU
    ScoreLearner::Image learner{};
    std::vector<Seen> seen{};  ///< oldest first; at most kSeenMax
    friend bool operator==(const Image&, const Image&) = default;
  };
  static constexpr size_t kSeenMax = 1024;

  /// `counting`: the scores that count now, at least one class.
  LearnedScores(const std::vector<std::string>& uuids, ScoreTable counting,
                const LearnOptions& options = {});
  /// Goes on from an image, if it is of these GPUs and as many classes; else it is ignored.
  void restore(Image image);
  [[nodiscard]] Image image() const;

  /// The scores that count in the scheduler are these: what differs from `before` is somebody's
  /// word of now.
  void counting(const ScoreTable& before, const ScoreTable& now, int64_t now_unix_s);
  /// Looks at the book under the GPUs' present conditions. Returns the GPUs whose score expired
  /// with this look.
  std::vector<size_t> look(const MeasureBook& book, std::span<const GpuNow> gpus,
                           int64_t now_unix_s);
  /// A run of a job that is over. Returns the GPUs whose score it moved.
  std::vector<size_t> observe(RunEvidence run, int64_t now_unix_s);
  /// True once for each job; those before the last kSeenMax are forgotten.
  bool see(Seen job);

  [[nodiscard]] const ScoreTable& table() const { return learner_.raw_by_class(); }
  [[nodiscard]] std::vector<ScoreFacts> facts(int64_t now_unix_s) const;

 private:
  [[nodiscard]] std::vector<double> scores_of_gpu(const ScoreTable& table, size_t gpu) const;
  void expire(size_t gpu);
  /// What counts of the GPU was known under another condition, or too long ago.
  [[nodiscard]] bool outlived(size_t gpu, const GpuScores& measured, bool changed,
                              int64_t now_unix_s) const;
  /// The profiler's word, unless somebody spoke after it.
  void take(size_t gpu, const GpuSession& session, const std::vector<double>& measured);

  LearnOptions options_;
  std::vector<Word> words_;
  ScoreLearner learner_;
  std::vector<Seen> seen_;
};

}  // namespace goban::core::knowledge
