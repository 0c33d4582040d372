// The files between engine and supervisor: order, payload, running note, and status. JSON; unknown
// fields are ignored, so that supervisors outlive an update. Run reports have the field names of
// base/reports/run_reports_json.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/gpus/gpu.hpp"
#include "base/reports/run_reports.hpp"
#include "base/result.hpp"
#include "live/engine.hpp"

namespace goban::live::engine::local {

using base::TimeNs;
using base::reports::RunProgress;

/// All that a supervisor needs.
struct RunOrder {
  RunId run{};
  job::JobSpec spec{};
  std::vector<base::gpus::LocalGpu> gpus{};
  /// What its processes cannot open: devices of the machine's other GPUs. Empty: not isolated.
  std::vector<base::gpus::DeviceNumber> denied{};
  bool shares = false;
  uint32_t restarts = 0;
  TimeNs limit_ns = base::kNever;     ///< the run may last this long from its start
  uint32_t run_instances = 1;         ///< instances of the job on this machine
  uint64_t epoch = 0;                 ///< of the ordering daemon; 0 = none
  std::string node{};                 ///< name of this machine
  std::string payload{};              ///< path of the payload
  std::vector<std::string> staged{};  ///< where JobSpec::stage_in is on the fast tier
  std::string fast_folder{};          ///< its own folder there; empty: none
  std::string cgroup_root{};          ///< where to create cgroups: empty = detected, "-" = none
  std::string socket_root{};          ///< where to create the folder of sockets; empty = detected
  double attach_timeout_s = 60;  ///< an interactive job without a client for this time is stopped
};

/// The job's script, arguments and environment, stored until it is finished.
struct Payload {
  std::string script{};
  std::vector<std::string> args{};
  std::map<std::string, std::string> env{};
  std::string dialect{};  ///< batch system whose variables the script expects: "slurm", "sge",
                          ///< "pbs" or empty
};

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

/// Host memory in bytes that the run may use; 0 = no limit.
[[nodiscard]] inline int64_t memory_limit(const RunOrder& order) {
  return order.spec.mem_bytes * std::max<int64_t>(1, order.run_instances);
}

[[nodiscard]] std::string to_text(const RunOrder& order);
[[nodiscard]] std::string to_text(const Payload& payload);
[[nodiscard]] std::string to_text(const RunningNote& note);
[[nodiscard]] std::string to_text(const RunStatus& status);
[[nodiscard]] std::string to_text(const RunProgress& progress);
/// Errors of all: BadData naming the field and `file`.
[[nodiscard]] base::Result<RunOrder> parse_order(std::string_view text, const std::string& file);
[[nodiscard]] base::Result<Payload> parse_payload(std::string_view text, const std::string& file);
[[nodiscard]] base::Result<RunningNote> parse_note(std::string_view text, const std::string& file);
[[nodiscard]] base::Result<RunStatus> parse_status(std::string_view text, const std::string& file);
[[nodiscard]] base::Result<RunProgress> parse_progress(std::string_view text,
                                                       const std::string& file);

}  // namespace goban::live::engine::local
