// The process that runs one job and outlives the daemon: `goban supervise FOLDER`. It takes the
// order in the folder unless another supervisor did, starts the job, carries out stops, and writes
// the status when no process of the run is left.
#pragma once

#include <optional>
#include <poll.h>
#include <string>
#include <vector>

#include "live/engine/local/core_claims.hpp"
#include "live/engine/local/job_start.hpp"
#include "live/engine/local/progress_listener.hpp"
#include "live/engine/local/run_folder.hpp"
#include "live/engine/local/run_processes.hpp"
#include "live/engine/local/run_status.hpp"
#include "live/engine/local/stop_plan.hpp"
#include "live/engine/local/terminal_host.hpp"
#include "live/engine/local/usage_watch.hpp"

namespace goban::live::engine::local {

/// Exit codes of a supervisor.
inline constexpr int kSupervised = 0;
inline constexpr int kNotOurs = 3;  ///< this run was started already, or must not be started

/// One run under its supervisor: everything between the order and the status.
class SupervisedRun {
 public:
  SupervisedRun(const RunFolder& folder, RunOrder order, int signals)
      : folder_(folder), order_(std::move(order)), signals_(signals), progress_file_(folder) {}
  ~SupervisedRun();
  SupervisedRun(const SupervisedRun&) = delete;
  SupervisedRun& operator=(const SupervisedRun&) = delete;

  /// Runs the job to its end. A job that cannot be started is refused, not an error.
  [[nodiscard]] RunStatus run();

 private:
  [[nodiscard]] base::Status start();
  /// Errors: Failed for want of the machine's resources.
  [[nodiscard]] base::Status prepare();
  [[nodiscard]] base::Result<Payload> read_payload();
  [[nodiscard]] base::Status open_sockets();
  void watch_start();  ///< notices that the job's interpreter runs, or why it does not
  void begin();        ///< its interpreter runs
  void turn();         ///< waits for an event and handles it
  [[nodiscard]] int wait_ms() const;
  void read_signals();
  void read_control();
  /// Its main process exited, and nothing had ordered that.
  [[nodiscard]] bool ended_by_itself() const {
    return main_gone_ && (!plan_.ordered() || (limited_ && !plan_.terminated()));
  }
  /// Stops the run for this reason and tells the job; nothing if a stop was ordered before.
  void order_stop(StopReason reason, const job::StopRequest& request);
  void watch_limit();
  /// When the stop at the walltime limit begins; kNever = there is no limit.
  [[nodiscard]] base::TimeNs limit_stop_ns() const;
  void reap();
  void step();     ///< carries out the stop plan
  void suspend();  ///< nothing once a stop was ordered
  /// Time since its start without suspensions.
  [[nodiscard]] base::TimeNs ran_ns() const;
  void ask_for_checkpoint();
  /// Ends the run of a killed process that never began and does not exit, and says what does not
  /// exit or begin.
  void watch_stuck();
  void say_stuck(const std::string& text);
  void watch_usage();
  void watch_client();
  void finish(RunStatus& status);

  const RunFolder& folder_;
  RunOrder order_;
  int signals_;  ///< signalfd
  base::Descriptor control_{};
  std::string sockets_{};
  std::optional<ProgressListener> progress_{};
  ProgressFile progress_file_;
  std::optional<TerminalHost> terminal_{};
  RunProcesses processes_{};
  std::optional<UsageWatch> usage_{};
  CoreClaims cores_{};
  StopPlan plan_{};
  std::optional<StartingJob> starting_{};  ///< until the job's interpreter runs
  std::optional<StartFailure> failure_{};  ///< why it does not
  pid_t pid_ = 0;
  bool main_gone_ = false;
  bool all_gone_ = false;
  int main_status_ = 0;
  bool unable_ = false;   ///< it could not be started for want of the machine's resources
  bool limited_ = false;  ///< its stop began because of its limit
  std::string detail_{};
  std::string said_stuck_{};
  base::TimeNs started_ns_ = 0;  ///< since 1970
  base::TimeNs started_steady_ns_ = 0;
};

/// Runs the job of a run folder. Closes all files but the standard ones and changes signal
/// handling: call it in a process of its own. Returns the exit code.
[[nodiscard]] int supervise(const std::string& folder);

}  // namespace goban::live::engine::local
