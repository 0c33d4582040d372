// The engine that runs jobs on this machine: each under a supervisor of its own (supervisor.hpp)
// that outlives us, so that a daemon that dies and comes back finds its jobs as they are.
#pragma once

#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/gpus/nvml.hpp"
#include "live/engine.hpp"
#include "live/engine/local/run_folder.hpp"

namespace goban::live::engine::local {

struct LocalOptions {
  std::string state{};  ///< state folder; exists
  std::string node{};   ///< name of this machine
  /// Of the daemon that it works for: what a later one has taken over starts nothing. 0 = unknown.
  uint64_t epoch = 0;
  /// Program and first arguments of a supervisor; empty: this program, `supervise`.
  std::vector<std::string> supervisor{};
  std::string cgroup_root{};                     ///< as in RunOrder
  std::string socket_root{};                     ///< as in RunOrder
  double attach_timeout_s = 60;                  ///< as in RunOrder
  TimeNs start_timeout_ns = 30 * base::kSecond;  ///< a supervisor that takes longer is given up
};

class LocalEngine final : public Engine {
 public:
  /// `gpus` by GpuId. `nvml`: null where all are virtual. Ignores SIGPIPE in this process.
  LocalEngine(LocalOptions options, std::vector<base::gpus::LocalGpu> gpus,
              std::shared_ptr<const base::gpus::NvmlLibrary> nvml = {});

  void launch(const LaunchOrder& order) override;
  void stop(RunId run, StopReason reason) override;
  void resume(const LaunchOrder& order) override;
  /// The payload of a job that never ran is its daemon's to remove: nothing here names it.
  void forget(core::model::JobId job, const std::string& payload) override;
  void cap(core::model::GpuId gpu, double watts) override;
  /// Resting is ignored: a machine does not switch off the daemon that would wake it.
  void wake(core::model::NodeId node) override;
  [[nodiscard]] std::vector<Report> take_reports() override;

  [[nodiscard]] const LocalOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<base::gpus::LocalGpu>& gpus() const { return gpus_; }

 private:
  struct Watched {
    RunFolder folder{std::string{}};
    std::vector<core::model::GpuId> gpus{};
    bool told_shared = false;   ///< its supervisor knows that it has company
    bool wants_shared = false;  ///< it has to be told
    bool launched = false;      ///< by us; else it is only looked for
    bool said_started = false;
    pid_t supervisor = 0;               ///< that we started; it may be gone
    std::optional<ControlByte> stop{};  ///< to be handed over
    TimeNs since_ns = 0;
    TimeNs looked_ns = 0;
    timespec changed{};  ///< of the folder, when it was read
    RunProgress said{};
  };

  [[nodiscard]] RunOrder order_for(const LaunchOrder& order) const;
  /// True: the run is watched already, and reports again.
  bool watch_again(RunId run);
  Watched& watch(const LaunchOrder& order);
  /// The newcomer, and whom it meets on its GPUs, are told that they share them.
  void tell_neighbours(RunId run, Watched& newcomer);
  [[nodiscard]] base::Result<pid_t> spawn(const RunFolder& folder);
  void reap_children();
  /// True: nothing can have happened since we looked.
  static bool is_idle(Watched& watched, TimeNs now_ns);
  /// False: the run is over, one way or another.
  bool look(RunId run, Watched& watched);
  bool look_unstarted(RunId run, Watched& watched, RunStage stage);
  bool look_broken(RunId run, Watched& watched);
  void report_end(RunId run, Watched& watched);
  void report_started(RunId run, Watched& watched, TimeNs at_ns);
  void report_progress(RunId run, Watched& watched, const RunProgress& progress);
  void report(ReportKind kind, RunId run, std::string detail);

  LocalOptions options_;
  std::vector<base::gpus::LocalGpu> gpus_;
  std::shared_ptr<const base::gpus::NvmlLibrary> nvml_;
  std::map<RunId, Watched> watched_;
  std::vector<pid_t> children_;             ///< supervisors that we started
  std::vector<std::string> payloads_left_;  ///< of jobs that are over, during a back-up
  std::vector<Report> reports_;
};

}  // namespace goban::live::engine::local
