// The engine that runs jobs on this machine: each under a supervisor of its own (supervisor.hpp)
// that outlives us, so that a daemon that dies and comes back finds its jobs as they are.
#pragma once

#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/local/nvml.hpp"
#include "engine/local/run_folder.hpp"
#include "live/engine.hpp"

namespace goban::engine::local {

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

class LocalEngine final : public live::Engine {
 public:
  /// `gpus` by GpuId. `nvml`: null where all are virtual. Ignores SIGPIPE in this process.
  LocalEngine(LocalOptions options, std::vector<LocalGpu> gpus,
              std::shared_ptr<const NvmlLibrary> nvml = {});

  void launch(const live::LaunchOrder& order) override;
  void stop(live::RunId run, live::StopReason reason) override;
  void resume(const live::LaunchOrder& order) override;
  /// The payload of a job that never ran is its daemon's to remove: nothing here names it.
  void forget(live::JobId job, const std::string& payload) override;
  void cap(live::GpuId gpu, double watts) override;
  /// Resting is ignored: a machine does not switch off the daemon that would wake it.
  void wake(live::NodeId node) override;
  [[nodiscard]] std::vector<live::Report> take_reports() override;

  [[nodiscard]] const LocalOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<LocalGpu>& gpus() const { return gpus_; }

 private:
  struct Watched {
    RunFolder folder{std::string{}};
    std::vector<live::GpuId> gpus{};
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

  [[nodiscard]] RunOrder order_for(const live::LaunchOrder& order) const;
  /// True: the run is watched already, and reports again.
  bool watch_again(live::RunId run);
  Watched& watch(const live::LaunchOrder& order);
  /// The newcomer, and whom it meets on its GPUs, are told that they share them.
  void tell_neighbours(live::RunId run, Watched& newcomer);
  [[nodiscard]] base::Result<pid_t> spawn(const RunFolder& folder);
  void reap_children();
  /// True: nothing can have happened since we looked.
  static bool is_idle(Watched& watched, TimeNs now_ns);
  /// False: the run is over, one way or another.
  bool look(live::RunId run, Watched& watched);
  bool look_unstarted(live::RunId run, Watched& watched, RunStage stage);
  bool look_broken(live::RunId run, Watched& watched);
  void report_end(live::RunId run, Watched& watched);
  void report_started(live::RunId run, Watched& watched, TimeNs at_ns);
  void report_progress(live::RunId run, Watched& watched, const RunProgress& progress);
  void report(live::ReportKind kind, live::RunId run, std::string detail);

  LocalOptions options_;
  std::vector<LocalGpu> gpus_;
  std::shared_ptr<const NvmlLibrary> nvml_;
  std::map<live::RunId, Watched> watched_;
  std::vector<pid_t> children_;             ///< supervisors that we started
  std::vector<std::string> payloads_left_;  ///< of jobs that are over, during a back-up
  std::vector<live::Report> reports_;
};

}  // namespace goban::engine::local
