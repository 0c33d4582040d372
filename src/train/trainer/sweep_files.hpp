// The files of a sweep: the metrics of its runs read back, sweep.csv, report.html and run.sh.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "train/trainer/sweep.hpp"

namespace goban::train::trainer {

/// The lines of a run's metrics.csv; none if there is no such file. A line that a crash cut off at
/// the end is left out. Errors: BadData with file and line.
[[nodiscard]] base::Result<std::vector<EpochResult>> read_metrics(const std::string& path);

/// batch,seed,epoch,step,train_loss,test_loss,test_acc,wall_s,images_s and then the grid's other
/// columns: control,hidden,layout,learning_rate.
[[nodiscard]] std::string sweep_csv(const std::vector<SweepRun>& runs);

/// The job script: starts itself under mpirun on `ranks` processes, each seeing the GPU of its
/// local rank.
[[nodiscard]] std::string mpirun_script(const std::string& command, int ranks);

/// Writes all three into the folder of the options.
[[nodiscard]] base::Status write_sweep_files(const SweepOptions& options, int ranks,
                                             const SweepResult& result);

}  // namespace goban::train::trainer
