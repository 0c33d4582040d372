// Reads accounting records of any known format, plain or gzip, from files or standard input, in one
// pass over blocks. A record that makes no sense is refused by itself, counted and kept with its
// reason; nothing is skipped in silence but blank lines, and comments where a format has them.
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

/// How the records of Slurm, Grid Engine and Kubernetes are read where sites differ.
/// What the run time of a Grid Engine job is.
enum class GridRunTime : uint8_t {
  EndMinusStart,
  WallclockSeconds,  ///< field ru_wallclock, whose unit differs between versions
  WallclockMilliseconds,
};

struct SiteOptions {
  /// Zone of times that name none: "" or "UTC", "+09:00", or a name such as Asia/Tokyo.
  std::string zone;
  /// Grid Engine: which requested resources are GPUs, `NAME=GPUS[:TYPE][*slots|*hosts]`, before the
  /// known ones (gpu_resources.hpp): `gpu=1*slots`, `rt_F=4:Full`.
  std::vector<std::string> gpu_resources;
  /// Grid Engine: with ru_wallclock a job ends that long after its start.
  GridRunTime run_time = GridRunTime::EndMinusStart;
  /// Slurm: GPUs of a node by partition, where the accounting does not count GPUs: `gpu=4`.
  std::vector<std::string> gpus_per_node;
  /// Keep users' own data; off, they are not even looked at.
  bool keep_job_names = false;
  bool keep_command_lines = false;
};

struct ReadOptions {
  std::string format;  ///< "" = told by the first line
  /// CSV `line,reason,record` of all refused records, written even if there are none, but not if
  /// reading fails; "" = none. The records are left empty if the sink does not show them.
  std::string rejects_path;
  /// Called about every MiB with bytes read and in all (0 = not known), as stored.
  std::function<void(int64_t read_bytes, int64_t total_bytes)> progress;
  /// Format swf: processors that stand for one GPU; job sizes are rounded up.
  int64_t procs_per_gpu = 1;
  size_t jobs_max = 100'000'000;  ///< more are an error, so that no input takes all memory
  SiteOptions site;
};

/// A record that was not taken.
struct Rejection {
  int64_t line = 0;
  std::string reason;
  std::string text;  ///< the line, cut after 200 bytes
};

/// What came of a file, or of several.
struct ReadSummary {
  static constexpr size_t kRejectionsKept = 20;
  std::string format;
  int64_t records = 0;  ///< records found, good or not
  int64_t rejected = 0;
  std::vector<Rejection> first_rejections;
  std::vector<std::string> ignored_columns;  ///< that the format does not use
  std::vector<std::string> notes;            ///< what else someone should know, a sentence each
};

/// Reads a file, or a folder of tables (format pai); "-" is standard input. Errors: Failed (cannot
/// read, or write the rejects), Usage (no format fits the first line, or no such format), BadData
/// (empty, missing or double columns, broken gzip, too many jobs).
[[nodiscard]] base::Result<ReadSummary> read_records(const std::string& path,
                                                     const ReadOptions& options, RecordSink& sink);

/// The same from any source; `name` stands for it in messages.
[[nodiscard]] base::Result<ReadSummary> read_records(base::ByteSource& source,
                                                     const std::string& name,
                                                     const ReadOptions& options, RecordSink& sink);

}  // namespace goban::site::records
