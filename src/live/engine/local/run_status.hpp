// What a supervisor tells the engine in the folder of its run: that the job runs, its progress, and
// how it ended. JSON; unknown fields are ignored, so that supervisors outlive an update. Run
// reports have the field names of base/reports/run_reports_json.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/reports/run_reports.hpp"
#include "base/result.hpp"
#include "live/engine/local/run_folder.hpp"

namespace goban::live::engine::local {

using base::reports::RunProgress;

/// Written by the supervisor when the job's process runs.
struct RunningNote {
  int64_t supervisor_pid = 0;
  int64_t pid = 0;
  TimeNs started_ns = 0;        ///< since 1970
  std::string cgroup{};         ///< empty: none
  std::string device_cgroup{};  ///< of version 1, against other GPUs; empty: none
  bool limited = false;         ///< the supervisor ends the run at its limit
};

/// Written by the supervisor when no process of the run is left.
struct RunStatus {
  bool refused = false;  ///< the job's process could not be started; `detail` holds the reason
  bool unable = false;   ///< `refused` for want of the machine's resources, not because of the job
  int32_t exit_code = -1;
  int32_t signal = 0;
  bool out_of_memory = false;
  bool acknowledged = false;
  bool limited = false;  ///< it was stopped at its limit
  RunUsage usage{};
  RunProgress progress{};
  TimeNs started_ns = 0;
  TimeNs ended_ns = 0;
  TimeNs ran_ns = -1;  ///< from its start to its end, whatever was done to the clock; -1 = unknown
  std::string detail{};
};

[[nodiscard]] std::string to_text(const RunningNote& note);
[[nodiscard]] std::string to_text(const RunStatus& status);
[[nodiscard]] std::string to_text(const RunProgress& progress);
/// Errors of all: BadData naming the field and `file`.
[[nodiscard]] base::Result<RunningNote> parse_note(std::string_view text, const std::string& file);
[[nodiscard]] base::Result<RunStatus> parse_status(std::string_view text, const std::string& file);
[[nodiscard]] base::Result<RunProgress> parse_progress(std::string_view text,
                                                       const std::string& file);

/// The file `status` of a run. Its space is reserved before the job starts, so that the status can
/// be written on a full disk.
class StatusFile {
 public:
  /// Errors: Failed (disk full): then the run must not start.
  [[nodiscard]] static base::Result<StatusFile> reserve(const std::string& folder);
  /// Writes the status durably and renames it into place. Errors: Failed; may be retried.
  [[nodiscard]] base::Status write(const RunStatus& status);
  /// Retries until it succeeds, so that the run is not lost because of a full disk, or until the
  /// run's folder is removed.
  void write_patiently(const RunStatus& status);
  /// Whether the run's folder still exists; checked by descriptor, as another folder may have its
  /// name now.
  [[nodiscard]] bool has_folder() const;

 private:
  static constexpr size_t kBytes = 16384;  ///< enough for the times of all ranks
  std::string path_{};
  base::Descriptor folder_{};
  base::Descriptor file_{};
  bool in_place_ = false;
};

/// The file `progress` of a run: written at most once a second.
class ProgressFile {
 public:
  explicit ProgressFile(const RunFolder& folder) : folder_(folder) {}
  /// Writes what is new, if it is time, or `at_once`. Errors are ignored: the next write is due.
  void keep(const RunProgress& progress, TimeNs now_ns, bool at_once);
  /// When keep() is due; kNever = nothing is new.
  [[nodiscard]] TimeNs next_ns(const RunProgress& progress) const {
    return progress == kept_ ? base::kNever : next_ns_;
  }

 private:
  const RunFolder& folder_;
  RunProgress kept_{};
  TimeNs next_ns_ = 0;
};

/// Writes a line to the supervisor's log. Ignores errors such as a full disk, on which fmt::print
/// would throw.
void complain(const std::string& text);

/// The latest times reported by the ranks of a run, as stored by its supervisor.
[[nodiscard]] std::vector<RankTimes> rank_times(const std::string& state, RunId run);

}  // namespace goban::live::engine::local
