// The engine that runs jobs on this machine, each under its own supervisor (supervisor.hpp).
// Supervisors outlive the daemon, so jobs continue while the daemon restarts.
#pragma once

#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/gpus/nvml.hpp"
#include "live/engine.hpp"
#include "live/engine/local/run_status.hpp"

namespace goban::live::engine::local {

struct LocalOptions {
  std::string state{};  ///< state folder; exists
  std::string node{};   ///< name of this machine
  /// Epoch of the daemon. After a takeover by a later daemon the engine starts nothing. 0 =
  /// unknown.
  uint64_t epoch = 0;
  /// Program and first arguments of a supervisor; empty: this program, `supervise`.
  std::vector<std::string> supervisor{};
  std::string cgroup_root{};     ///< as in RunOrder
  bool isolates = false;         ///< no job can open the devices of GPUs that it does not have
  std::string socket_root{};     ///< as in RunOrder
  double attach_timeout_s = 60;  ///< as in RunOrder
  TimeNs start_timeout_ns =
      30 * base::kSecond;  ///< a supervisor that takes longer to start is abandoned
};

class LocalEngine final : public Engine {
 public:
  /// `gpus` by GpuId. `nvml`: null where all are virtual. Ignores SIGPIPE in this process.
  LocalEngine(LocalOptions options, std::vector<base::gpus::LocalGpu> gpus,
              std::shared_ptr<const base::gpus::NvmlLibrary> nvml = {});

  void launch(const LaunchOrder& order) override;
  void stop(RunId run, StopReason reason) override;
  void hurry(RunId run, StopUrgency urgency) override;
  void suspend(RunId run, bool suspended) override;
  void resume(const LaunchOrder& order) override;
  /// Removes the run folders and the payload; during a backup the payload is removed later.
  void forget(core::model::JobId job, const std::string& payload) override;
  void cap(const GpuPlace& gpu, double watts) override;
  /// Reports the node as up. Sleep is not implemented: the machine runs the daemon that would wake
  /// it.
  void wake(const std::string& node) override;
  [[nodiscard]] std::vector<EngineEvent> take_events() override;

  [[nodiscard]] const LocalOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<base::gpus::LocalGpu>& gpus() const { return gpus_; }

 private:
  struct Watched {
    RunFolder folder{std::string{}};
    std::vector<core::model::GpuId> gpus{};
    bool sharing_sent = false;  ///< its supervisor knows that other runs hold some of its GPUs
    bool sharing_due = false;   ///< it is to be sent that
    bool launched = false;      ///< launched by this engine; otherwise only looked up
    bool said_started = false;
    pid_t supervisor = 0;                ///< started by this engine; it may have exited
    std::optional<ControlByte> stop{};   ///< stop order to be sent
    std::optional<ControlByte> hurry{};  ///< to be sent after it
    std::optional<ControlByte> pause{};  ///< Suspend or Continue, to be sent
    TimeNs since_ns = 0;
    TimeNs looked_ns = 0;
    timespec changed{};  ///< modification time of the folder when it was read
    RunProgress said{};
    std::string said_stuck{};
  };

  /// Devices of the machine's other GPUs.
  [[nodiscard]] std::vector<base::gpus::DeviceNumber> denied_for(
      const std::vector<base::gpus::LocalGpu>& own) const;
  [[nodiscard]] RunOrder order_for(const LaunchOrder& order) const;
  /// If the run is watched already: reports its state again and returns true.
  bool watch_again(RunId run);
  Watched& watch(const LaunchOrder& order);
  /// Marks the newcomer and the runs on its GPUs as shared; their supervisors are told later.
  void tell_neighbours(RunId run, Watched& newcomer);
  [[nodiscard]] base::Result<pid_t> spawn(const RunFolder& folder);
  /// Passes on orders that its supervisor has not heard yet.
  static void send_orders(Watched& watched);
  void reap_children();
  /// True: nothing can have changed since the last check.
  static bool is_idle(Watched& watched, TimeNs now_ns);
  /// False: the run has ended.
  bool look(RunId run, Watched& watched);
  bool look_unstarted(RunId run, Watched& watched, RunStage stage);
  bool look_broken(RunId run, Watched& watched);
  void report_end(RunId run, Watched& watched);
  void report_unable(RunId run, const RunFolder& folder, std::string detail);
  void report_started(RunId run, Watched& watched, TimeNs at_ns, bool limited);
  void report_progress(RunId run, Watched& watched, const RunProgress& progress);
  void report(ReportKind kind, RunId run, std::string detail);

  LocalOptions options_;
  std::vector<base::gpus::LocalGpu> gpus_;
  std::shared_ptr<const base::gpus::NvmlLibrary> nvml_;
  std::map<RunId, Watched> watched_;
  std::vector<pid_t> children_;  ///< supervisors started by this engine
  std::vector<std::string>
      payloads_left_;  ///< payloads of finished jobs, to be removed after a backup
  std::vector<Report> reports_;
};

}  // namespace goban::live::engine::local
