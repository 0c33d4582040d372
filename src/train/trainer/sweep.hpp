// The batch-size experiment: one model trained over a grid (batch x hidden x layout x learning
// rate) with several seeds and controls. Every run has a folder, so a stopped sweep can be resumed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "train/trainer/find_largest.hpp"
#include "train/trainer/options.hpp"
#include "train/trainer/same_on_ranks.hpp"

namespace goban::train::trainer {

/// Batch size and learning-rate schedule are confounded in the plain experiment (Adafactor's rate
/// decreases with the number of steps, and a smaller batch takes more of them). The controls
/// separate them.
enum class Control : uint8_t {
  Plain,
  EqualSteps,     ///< every batch size takes the number of steps of the largest
  EqualSchedule,  ///< every batch size has the learning rates of the largest, by samples seen
};
[[nodiscard]] const char* control_name(Control control);

/// One run of the grid.
struct SweepPoint {
  Control control = Control::Plain;
  int64_t batch = 0, hidden = 0;
  std::string layout;
  double learning_rate = 0;
  uint64_t seed = 1;
  friend bool operator==(const SweepPoint&, const SweepPoint&) = default;
};

struct SweepOptions {
  TrainOptions train;  ///< settings that the grid does not vary
  std::vector<int64_t> batch_sizes = {10, 20, 50, 100, 200, 250};
  std::vector<int64_t> hidden = {512};
  std::vector<std::string> layouts = {""};
  std::vector<double> learning_rates = {0};
  int seeds = 3;
  int layout_seeds = 0;            ///< of every layout after the first; 0: `seeds`
  bool both_orientations = false;  ///< repeat each layout with the two mesh axes exchanged
  std::vector<Control> controls = {Control::EqualSteps, Control::EqualSchedule};
  std::string out;      ///< folder
  std::string command;  ///< the command line, for run.sh and the report
  /// Memory limit in the search for the largest batch (claim S7); 0: no search.
  int64_t largest_limit_bytes = 64'000'000;
  std::vector<int> largest_ranks = {1, 2, 4};
  int jobs = 1;  ///< runs at the same time; more than one needs a launcher that admits it
};

struct SweepRun {
  SweepPoint point;
  std::vector<EpochResult> rows;
  bool complete = false;
  /// Error, if it cannot be completed: a batch that the layout does not divide, or a run whose
  /// loss or variables are no longer finite.
  std::string refused;
};

struct SweepResult {
  std::vector<SweepRun> runs;
  std::vector<Largest> largest;
  bool stopped = false;  ///< by a signal; the same command resumes
};

/// How runs are started: on threads, or on the ranks of an MPI job, all of which call run_sweep.
struct Launcher {
  int ranks = 1;
  bool several_at_once = false;  ///< `train` may be called by several threads
  bool first = true;             ///< true for the process that decides, prints and writes
  std::function<base::Result<std::vector<EpochResult>>(const TrainOptions&)> train;
  /// Returns the first process's value on all.
  std::function<base::Result<bool>(bool)> agree;
  /// Returns true on all if any process passes true.
  std::function<base::Result<bool>(bool)> any;
  /// Compares the sweep's options on all processes. Errors: Usage, if they differ.
  std::function<base::Status(const Facts&)> same;
};

/// The largest batch size of the grid.
[[nodiscard]] int64_t largest_batch(const SweepOptions& options);

/// Every combination once. Errors: Usage, for an empty list or a mesh whose axes cannot be
/// exchanged.
[[nodiscard]] base::Result<std::vector<SweepPoint>> grid_of(const SweepOptions& options);

/// The trainer's options for one point; `samples` is the size of the training set.
[[nodiscard]] TrainOptions options_of(const SweepOptions& options, const SweepPoint& point,
                                      int64_t samples);

/// Runs the incomplete points, then writes sweep.csv, report.html and run.sh. Errors: Usage, for a
/// folder of another sweep, or for several jobs where the launcher has one; Failed, for a folder
/// that another sweep uses; and errors of runs other than rejected layouts and values that are not
/// finite, which are marked. With several jobs, small batches begin first, as they take longest,
/// and an error stops the other runs like a signal (stop_requested).
[[nodiscard]] base::Result<SweepResult> run_sweep(const SweepOptions& options,
                                                  const Launcher& launcher);

}  // namespace goban::train::trainer
