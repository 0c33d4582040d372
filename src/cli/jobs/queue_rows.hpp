// The rows and columns of goban queue: arrays collapsed, reasons, sorting.
#pragma once

#include <string>
#include <vector>

#include "cli/jobs/queue_table.hpp"

namespace goban::cli {

/// 0: has GPUs, 1: waits, 2: is over.
[[nodiscard]] int rank_of(const JobRow& job);

/// One line of the table: a job, or several waiting tasks of an array.
struct QueueRow {
  JobRow job{};  ///< the first of several
  std::string id{};
  std::string reason{};  ///< empty unless it waits
  int32_t num_gpus = 0;
  int64_t num_jobs = 1;
};

/// The rows in the order of the view.
[[nodiscard]] std::vector<QueueRow> queue_rows(const std::vector<JobRow>& jobs,
                                               const QueueView& view);
/// The table of these rows with the columns of the view.
[[nodiscard]] std::string rows_table(const std::vector<QueueRow>& rows, const QueueView& view);

}  // namespace goban::cli
