// The order of the engine to a supervisor, and the folder in which it is placed and taken,
// `jobs/<number>/run-<run>/`. The folder decides that a run starts at most once:
//   order     written by the engine; renamed to `taken` by the one supervisor that may run it
//   taken     the run was started, or must not be started any more
//   lock      held (OFD lock) by the supervisor while it runs
//   control   FIFO: one byte per order to the supervisor
//   running   the job's process runs (run_status.hpp)
//   progress  its latest progress report (run_status.hpp)
//   stuck     what does not begin or exit, for users; absent if all is well
//   sockets   link to the folder of sockets, which the job's user can reach and not change
//   status    how it ended (run_status.hpp); written when no process of it is left
//   unable    `taken`, renamed: the machine could not start it, and it never begins
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/gpus/gpu.hpp"
#include "base/result.hpp"
#include "live/engine.hpp"

namespace goban::live::engine::local {

using base::TimeNs;

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

/// Host memory in bytes that the run may use; 0 = no limit.
[[nodiscard]] inline int64_t memory_limit(const RunOrder& order) {
  return order.spec.mem_bytes * std::max<int64_t>(1, order.run_instances);
}

// Their JSON. Unknown fields are ignored, so that supervisors outlive an update. Errors: BadData
// naming the field and `file`.
[[nodiscard]] std::string to_text(const RunOrder& order);
[[nodiscard]] std::string to_text(const Payload& payload);
[[nodiscard]] base::Result<RunOrder> parse_order(std::string_view text, const std::string& file);
[[nodiscard]] base::Result<Payload> parse_payload(std::string_view text, const std::string& file);

enum class RunStage : uint8_t {
  Absent,   ///< no order: never launched
  Ordered,  ///< not taken by a supervisor yet; one may be about to
  Running,  ///< a supervisor is running
  Over,     ///< `status` holds how it ended
  Broken,   ///< its supervisor exited without a status
  Unable,   ///< its supervisor lacked resources to start it; it never began
};

/// Orders to a supervisor, one byte each.
enum class ControlByte : char {
  Preempted = 'p',
  Cancelled = 'c',
  TimedOut = 't',
  Broken = 'b',
  Terminate = 'T',  ///< the time before SIGTERM is over; after one of the above
  Kill = 'k',       ///< the grace is over; after one of the above
  Suspend = 'z',    ///< stops all processes; the limit pauses
  Continue = 'g',   ///< after Suspend
  Shared = 's',     ///< other jobs share its GPUs: its GPU memory is limited from now on
};

/// The order to stop a run for this reason.
[[nodiscard]] ControlByte byte_of(StopReason reason);
/// The reason, if that is the order.
[[nodiscard]] std::optional<StopReason> stop_reason(ControlByte byte);

class RunFolder {
 public:
  /// `path` is absolute.
  explicit RunFolder(std::string path) : path_(std::move(path)) {}
  RunFolder(const std::string& state, RunId run);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const char* name) const { return path_ + "/" + name; }
  /// `<state>` of `<state>/jobs/<number>/run-<run>`.
  [[nodiscard]] std::string state() const;

  /// Identifies the run's processes; unique among the runs of all daemons of a machine.
  [[nodiscard]] std::string key() const;

  /// Writes the order if the run was never taken. True: a supervisor can be started for it. May be
  /// repeated and called concurrently. Errors: Failed (disk full, no permission).
  [[nodiscard]] base::Result<bool> place_order(const RunOrder& order) const;

  /// What take() acquired: the lock and the order.
  struct Taken {
    base::Descriptor lock{};
    RunOrder order{};
  };
  /// Called first by a supervisor: takes the lock, then the order. Errors: Failed if this run must
  /// not be started (any more); BadData for an invalid order, which is taken nevertheless.
  [[nodiscard]] base::Result<Taken> take() const;

  /// A supervisor took the order, or none may any more.
  [[nodiscard]] bool is_decided() const;
  [[nodiscard]] RunStage stage() const;
  /// Ensures that an order that was not taken is never taken. False: a supervisor was faster, or
  /// the mark could not be written; call again later.
  [[nodiscard]] bool fence() const;
  /// Takes back an order that could not be placed or handed over, and removes the folder. Needs no
  /// disk space. False: a supervisor may have taken it.
  [[nodiscard]] bool withdraw() const;
  /// Called by the supervisor that took the order: it cannot start the job, for want of resources.
  void give_back() const;
  /// Sends a byte to the supervisor. False: it does not listen yet, or no longer.
  [[nodiscard]] bool tell(ControlByte byte) const;

 private:
  [[nodiscard]] base::Status make_folders() const;
  /// Errors: Failed if there is no order, or if another daemon has taken over since.
  [[nodiscard]] base::Status check_epoch() const;

  std::string path_;
};

/// `<state>/jobs/<number>`: the runs of a job.
[[nodiscard]] std::string job_folder(const std::string& state, core::model::JobId job);
/// The payload of a job: `<state>/payloads/<name>/payload.json`.
[[nodiscard]] std::string payload_path(const std::string& state, const job::JobSpec& spec);
/// Removes the runs of a job; no error if there are none.
void remove_runs(const std::string& state, core::model::JobId job);
/// Removes a payload; invalid names are ignored. False: a backup is copying payloads (it locks
/// their folder), so try again later.
[[nodiscard]] bool remove_payload(const std::string& state, const std::string& name);
/// The terminal socket of a running interactive job; empty if there is none.
[[nodiscard]] std::string terminal_socket(const std::string& state, RunId run);

}  // namespace goban::live::engine::local
