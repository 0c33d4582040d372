// Reads a job history of any known format, plain or gzip, from a file or standard input, in one
// pass over blocks. A record that makes no sense is refused by itself, counted and kept with its
// reason; nothing is skipped in silence but blank lines, and comments where a format has them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "history/byte_source.hpp"
#include "history/history_builder.hpp"
#include "model/cluster.hpp"
#include "model/job.hpp"

namespace goban::history {

struct ReadOptions {
  std::string format;                       ///< "" = told by the first line
  const model::Cluster* cluster = nullptr;  ///< for limits and resource types; may be null
  /// CSV `line,reason,record` of all refused records, written even if there are none, but not if
  /// reading fails; "" = none.
  std::string rejects_path;
  /// Called about every MiB with bytes read and in all (0 = not known), as stored.
  std::function<void(int64_t read_bytes, int64_t total_bytes)> progress;
  /// Format swf: processors that stand for one GPU; job sizes are rounded up.
  int64_t procs_per_gpu = 1;
  CpuJobs cpu_jobs = CpuJobs::LeaveOut;
  size_t jobs_max = 100'000'000;  ///< more are an error, so that no input takes all memory
};

/// A record that was not taken.
struct Rejection {
  int64_t line = 0;
  std::string reason;
  std::string text;  ///< the line, cut after 200 bytes
};

struct ReadResult {
  static constexpr size_t kRejectionsKept = 20;
  model::JobHistory history;
  std::string format;
  int64_t records = 0;  ///< lines with a record, good or not
  int64_t rejected = 0;
  JobCounts counts;  ///< jobs without GPUs, shares of GPUs
  std::vector<Rejection> first_rejections;
  bool unsorted = false;                     ///< the input was not in submit order; it is now
  std::vector<std::string> ignored_columns;  ///< that the format does not use
  std::vector<std::string> notes;            ///< what else someone should know, a sentence each
};

/// Reads a file; "-" is standard input. Errors: Failed (cannot read, or write the rejects),
/// Usage (no format fits the first line, or no such format), BadData (empty, missing or double
/// columns, broken gzip, too many jobs). Cost: one pass, about 60 bytes a job.
[[nodiscard]] base::Result<ReadResult> read_jobs(const std::string& path,
                                                 const ReadOptions& options);

/// The same from any source; `name` stands for it in messages.
[[nodiscard]] base::Result<ReadResult> read_jobs(ByteSource& source, const std::string& name,
                                                 const ReadOptions& options);

}  // namespace goban::history
