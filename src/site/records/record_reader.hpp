// Reads accounting records of any supported format, plain or gzip, from files or standard input, in
// one pass over blocks. An invalid record is rejected by itself, counted and stored with its
// reason; only blank lines, and comments where a format has them, are skipped silently.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/byte_source.hpp"
#include "base/result.hpp"
#include "site/records/accounting_record.hpp"

namespace goban::site::records {

/// Options for the records of Slurm, Grid Engine and Kubernetes, where sites differ.
/// Which value is the run time of a Grid Engine job.
enum class GridRunTime : uint8_t {
  EndMinusStart,
  WallclockSeconds,  ///< field ru_wallclock, whose unit differs between versions
  WallclockMilliseconds,
};

struct SiteOptions {
  /// Time zone of timestamps without one: "" or "UTC", "+09:00", or a name such as Asia/Tokyo.
  std::string zone;
  /// Grid Engine: which requested resources are GPUs, `NAME=GPUS[:TYPE][*slots|*hosts]`; they take
  /// precedence over the built-in ones (gpu_resources.hpp): `gpu=1*slots`, `rt_F=4:Full`.
  std::vector<std::string> gpu_resources;
  /// Grid Engine: with ru_wallclock, end = start + ru_wallclock.
  GridRunTime run_time = GridRunTime::EndMinusStart;
  /// Slurm: GPUs per node by partition, where the accounting does not count GPUs: `gpu=4`.
  std::vector<std::string> gpus_per_node;
  /// Keep personal data of users; if false, these fields are not read.
  bool keep_job_names = false;
  bool keep_command_lines = false;
};

struct ReadOptions {
  std::string format;  ///< "" = detected from the first line
  /// CSV `line,reason,record` of all rejected records, written even if there are none, but not if
  /// reading fails; "" = none. The column `record` is empty if the sink must not show it.
  std::string rejects_path;
  /// Called about every MiB with the bytes read and the total (0 = unknown), as stored.
  std::function<void(int64_t read_bytes, int64_t total_bytes)> progress;
  /// Format swf: processors per GPU; job sizes are rounded up.
  int64_t procs_per_gpu = 1;
  size_t jobs_max = 100'000'000;  ///< more are an error; this bounds the memory of an input
  SiteOptions site;
};

/// A rejected record.
struct Rejection {
  int64_t line = 0;
  std::string reason;
  std::string text;  ///< the line, truncated to 200 bytes
};

/// Result of reading one file, or several.
struct ReadSummary {
  static constexpr size_t kRejectionsKept = 20;
  std::string format;
  int64_t records = 0;  ///< records found, valid or not
  int64_t rejected = 0;
  std::vector<Rejection> first_rejections;
  std::vector<std::string> ignored_columns;  ///< not used by the format
  std::vector<std::string> notes;            ///< further remarks for the user, one sentence each
};

/// "2 of 5 records were rejected, see REJECTS", and the first three with line and reason. `name`
/// denotes the input; `rejects`: path of the rejects file, or empty.
[[nodiscard]] std::string rejections_text(const ReadSummary& read, const std::string& name,
                                          const std::string& rejects);

/// Reads a file, or a folder of tables (format alibaba-pai); "-" is standard input. Errors: Failed
/// (cannot read, or cannot write the rejects), Usage (no format matches the first line, or unknown
/// format), BadData (empty, missing or duplicate columns, corrupt gzip, too many jobs).
[[nodiscard]] base::Result<ReadSummary> read_records(const std::string& path,
                                                     const ReadOptions& options, RecordSink& sink);

/// The same from any source; `name` denotes it in messages.
[[nodiscard]] base::Result<ReadSummary> read_records(base::ByteSource& source,
                                                     const std::string& name,
                                                     const ReadOptions& options, RecordSink& sink);

}  // namespace goban::site::records
