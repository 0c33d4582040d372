// One run under its supervisor: everything between the order and the status.
#pragma once

#include <memory>
#include <optional>
#include <poll.h>
#include <vector>

#include "live/engine/local/core_claims.hpp"
#include "live/engine/local/gpu_meter.hpp"
#include "live/engine/local/progress_listener.hpp"
#include "live/engine/local/run_folder.hpp"
#include "live/engine/local/status_file.hpp"
#include "live/engine/local/stop_plan.hpp"
#include "live/engine/local/terminal_host.hpp"
#include "live/machine/cgroup.hpp"

namespace goban::live::engine::local {

class SupervisedRun {
 public:
  SupervisedRun(const RunFolder& folder, RunOrder order, int signals)
      : folder_(folder), order_(std::move(order)), signals_(signals) {}
  ~SupervisedRun();
  SupervisedRun(const SupervisedRun&) = delete;
  SupervisedRun& operator=(const SupervisedRun&) = delete;

  /// Runs the job to its end. A job that cannot be started is refused, not an error.
  [[nodiscard]] RunStatus run();

 private:
  [[nodiscard]] base::Status start();
  [[nodiscard]] base::Status open_sockets();
  void make_cgroup();
  void turn();  ///< waits for an event and handles it
  [[nodiscard]] int wait_ms() const;
  void read_signals();
  void read_control();
  void reap();
  void step();  ///< carries out the stop plan
  void signal_all(int signal);
  void ask_for_checkpoint();
  void kill_all();
  /// Records the GPU busy time, which replaces the progress of a job that reports no epochs.
  void note_busy(base::TimeNs now, double cpu_s);
  [[nodiscard]] double cpu_s() const;  ///< CPU time of the run so far
  void sample();
  void check_memory(const std::vector<pid_t>& processes);
  void keep_progress(bool now);
  void watch_client();
  [[nodiscard]] std::vector<pid_t> processes() const;
  void finish(RunStatus& status);

  const RunFolder& folder_;
  RunOrder order_;
  int signals_;  ///< signalfd
  base::Descriptor control_{};
  std::string sockets_{};
  std::optional<ProgressListener> progress_{};
  std::optional<TerminalHost> terminal_{};
  std::optional<machine::Cgroup> cgroup_{};
  std::unique_ptr<GpuMeter> meter_{};
  CoreClaims cores_{};
  StopPlan plan_{};
  pid_t pid_ = 0;
  bool main_gone_ = false;
  bool all_gone_ = false;
  int main_status_ = 0;
  bool out_of_memory_ = false;
  bool kernel_limits_ = false;  ///< the cgroup has the memory limit
  bool shares_ = false;
  std::string detail_{};
  int64_t mem_bytes_max_ = -1;
  base::TimeNs started_ns_ = 0;  ///< since 1970
  base::TimeNs started_steady_ns_ = 0;
  base::TimeNs next_sample_ns_ = 0;
  base::TimeNs next_meter_ns_ = 0;
  base::TimeNs next_busy_ns_ = 0;
  base::TimeNs next_keep_ns_ = 0;
  RunProgress kept_{};
};

/// Writes a line to the supervisor's log. Ignores errors such as a full disk, on which fmt::print
/// would throw.
void complain(const std::string& text);

}  // namespace goban::live::engine::local
