// Where the time of a run went (base/reports/time_table): from what the run measured, its plan and
// the limits of the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/reports/time_table.hpp"
#include "train/mesh/plan.hpp"
#include "train/mesh/planner.hpp"
#include "train/trainer/batches.hpp"
#include "train/trainer/run_files.hpp"

namespace goban::train::trainer {

/// What a run measured on this rank.
struct RunTimes {
  StepStatistics steps;
  double wall_s = 0, evaluation_s = 0, checkpoint_s = 0;
  double idle_s = 0;    ///< IdleTime
  int64_t samples = 0;  ///< trained on, in the parts of all ranks
  Preparing preparing;
  int64_t evaluated = 0;                                 ///< test samples, in all evaluations
  int64_t saved_bytes = 0;                               ///< of all checkpoints
  std::vector<base::reports::TimeInterval> intervals{};  ///< from evaluation to evaluation
};

/// What the machine could do, measured by the run; nullopt: unknown.
struct RunLimits {
  std::optional<mesh::CostModel> costs;     ///< on the ranks of the run
  std::optional<double> evaluated_per_s;    ///< Evaluation::fastest_per_s
  std::optional<double> saved_bytes_per_s;  ///< measured_write_rate
};

/// Clocks of a rank's thread. On a busy machine it may lose its processor while it reads them: what
/// is measured ends with `begin_s`, and what comes next begins with `end_s`.
struct Moment {
  double begin_s = 0, end_s = 0;
  double cpu_s = 0;     ///< processor time of the thread
  double waited_s = 0;  ///< for other ranks
};
/// `waited_s`: of the communicator.
[[nodiscard]] Moment moment_of(double waited_s);

/// Time outside of steps, evaluations and checkpoints in which a rank's thread waited for other
/// ranks, for a disk or for a processor.
class IdleTime {
 public:
  /// A step, an evaluation or a checkpoint begins.
  void enter(const Moment& now);
  /// It has ended; also called when the first step may begin.
  void leave(const Moment& now) { outside_since_ = now; }
  /// Counts the time until now.
  void count(const Moment& now) {
    enter(now);
    leave(now);
  }
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  Moment outside_since_;
  double seconds_ = 0;
};

/// The interval from `begin_s`, when `before` was measured, to `end_s`, when `now` was.
[[nodiscard]] base::reports::TimeInterval time_interval(const RunTimes& before, const RunTimes& now,
                                                        double begin_s, double end_s, int64_t step);

/// Options of a run that remedies of its time table name, as they are in use.
[[nodiscard]] std::vector<std::string> advised_options(const TrainOptions& options);

[[nodiscard]] base::reports::TimeTable time_table(const RunTimes& times, const mesh::Plan& plan,
                                                  const RunLimits& limits);

}  // namespace goban::train::trainer
