// One run in the hands of its supervisor: everything between the order and the status.
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
  void turn();  ///< waits for something to happen, and sees to it
  [[nodiscard]] int wait_ms() const;
  void read_signals();
  void read_control();
  void reap();
  void step();  ///< what the stop plan says
  void signal_all(int signal);
  void ask_for_checkpoint();
  void kill_all();
  /// How busy the run keeps its GPUs stands in for the progress of a job that says none.
  void note_busy(base::TimeNs now, double cpu_s);
  [[nodiscard]] double cpu_s() const;  ///< of the host, so far
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

/// A line for the supervisor's log; lost if the disk is full, which fmt would end the program for.
void complain(const std::string& text);

}  // namespace goban::live::engine::local
