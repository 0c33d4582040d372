// The files of a sweep: reads the metrics of its runs, writes sweep.csv, report.html and run.sh.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "train/trainer/sweep.hpp"

namespace goban::train::trainer {

/// The lines of a run's metrics.csv; none if the file does not exist. A last line truncated by a
/// crash is ignored. Errors: BadData with file and line.
[[nodiscard]] base::Result<std::vector<EpochResult>> read_metrics(const std::string& path);

/// Columns: batch,seed,epoch,step,train_loss,test_loss,test_acc,wall_s,images_s and then the grid's
/// other columns: control,hidden,layout,learning_rate.
[[nodiscard]] std::string sweep_csv(const std::vector<SweepRun>& runs);

/// The job script: runs itself under mpirun on `ranks` processes, each of which sees the GPU of its
/// local rank.
[[nodiscard]] std::string mpirun_script(const std::string& command, int ranks);

/// What the search for the largest batch has found in the folder of these options, by number of
/// ranks; nothing of a search with another memory limit, model or device.
[[nodiscard]] std::vector<Largest> read_largest(const SweepOptions& options);
[[nodiscard]] base::Status write_largest(const SweepOptions& options,
                                         const std::vector<Largest>& all);

/// Writes all three files into the folder of the options.
[[nodiscard]] base::Status write_sweep_files(const SweepOptions& options, int ranks,
                                             const SweepResult& result);

}  // namespace goban::train::trainer
