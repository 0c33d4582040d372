// Reads a job history of any format of site/records into a core::model::JobHistory, in submit
// order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/byte_source.hpp"
#include "base/result.hpp"
#include "core/model/cluster.hpp"
#include "core/model/job_history.hpp"
#include "site/records/record_reader.hpp"
#include "study/history/history_builder.hpp"

namespace goban::study::history {

struct ReadOptions : site::records::ReadOptions {
  const core::model::Cluster* cluster = nullptr;  ///< for limits and resource types; may be null
  CpuJobs cpu_jobs = CpuJobs::LeaveOut;
};

struct ReadResult : site::records::ReadSummary {
  core::model::JobHistory history;
  JobCounts counts;       ///< jobs without GPUs, GPU shares, jobs that did not run
  bool unsorted = false;  ///< the input was not in submit order; the history is
};

/// Reads a file; "-" is standard input. Errors: Failed (cannot read, or write the rejects), Usage
/// (no format matches the first line, or unknown format), BadData (empty input, missing or
/// duplicate columns, damaged gzip, too many jobs). Cost: one pass, about 60 bytes per job.
[[nodiscard]] base::Result<ReadResult> read_jobs(const std::string& path,
                                                 const ReadOptions& options);

/// The same from any source; `name` is its name in messages.
[[nodiscard]] base::Result<ReadResult> read_jobs(base::ByteSource& source, const std::string& name,
                                                 const ReadOptions& options);

/// The same from any function that passes records to a sink, such as the store's.
[[nodiscard]] base::Result<ReadResult> read_jobs(
    const std::function<base::Result<site::records::ReadSummary>(site::records::RecordSink& sink)>&
        read,
    const ReadOptions& options);

/// The same from a file, a folder, standard input or a history store. Errors: also those of
/// site::store::JobStore::open().
[[nodiscard]] base::Result<ReadResult> read_history(const std::string& location,
                                                    const ReadOptions& options);

}  // namespace goban::study::history
