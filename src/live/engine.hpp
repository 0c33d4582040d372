// The interface of engines: an engine launches runs, stops them, and says what happened. It works
// asynchronously: no call blocks for longer than it takes to hand over an order. An engine that has
// jobs and nodes of its own (Slurm, Kubernetes) also says which; docs/decisions/0013-whose-jobs.md.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "base/gpus/gpu.hpp"
#include "base/result.hpp"
#include "live/engine_events.hpp"

namespace goban::live {

/// One GPU, by its index on a node.
struct GpuPlace {
  std::string node{};
  int32_t index = 0;
  friend bool operator==(const GpuPlace&, const GpuPlace&) = default;
};

struct LaunchOrder {
  RunId run{};
  job::JobSpec spec{};
  std::string engine_id{};            ///< JobSeen::id; empty: the engine has no job for it yet
  std::vector<GpuId> gpus{};          ///< in the order the core selected them
  std::vector<NodePart> parts{};      ///< the same by node, in order of first appearance
  bool shares = false;                ///< other jobs hold some of these GPUs
  uint32_t restarts = 0;              ///< launches before this one
  TimeNs limit_ns = base::kNever;     ///< the run may last this long from its start
  std::vector<std::string> staged{};  ///< where JobSpec::stage_in is on the fast tier
  std::string fast_folder{};          ///< the job's own folder there; empty: none
};

/// How far a stop has to go at once; the steps before are skipped.
enum class StopUrgency : uint8_t {
  Ask,        ///< all steps in their time: the requested signal, SIGTERM, SIGKILL
  Terminate,  ///< SIGTERM
  Kill,       ///< SIGKILL
};

enum class StopReason : uint8_t { Preempted, Cancelled, TimedOut, Broken };

/// What the job table holds of a job of the engine's queue.
struct KnownJob {
  JobId job{};
  std::string engine_id{};
  bool managed = false;
  bool withdrawn = false;         ///< it was cancelled here: withdraw() was or will be called
  RunId run{};                    ///< its latest run that has not ended; invalid: none
  bool launched = false;          ///< the engine has reported the start of `run`
  std::vector<NodePart> parts{};  ///< of `run`, or what an unmanaged job holds
};

/// Carries out orders. Called by one thread only. Every order may be repeated.
class Engine {
 public:
  virtual ~Engine() = default;
  /// Launches the run. A report follows: Started, Refused, Unable, Declined or Ended.
  virtual void launch(const LaunchOrder& order) = 0;
  /// Stops the run as its StopRequest specifies: signal, SIGTERM, SIGKILL. Ended follows. A run
  /// that is unknown to the engine is reported Lost and never starts afterwards.
  virtual void stop(RunId run, StopReason reason) = 0;
  /// Goes on to a later step of a stop that was ordered. The same urgency again changes nothing.
  virtual void hurry(RunId /*run*/, StopUrgency /*urgency*/) {}
  /// Takes up a run that was launched according to the job table. Reports its state: Started, Ended
  /// or Lost. A run that is unknown to the engine is Lost and never starts afterwards.
  virtual void resume(const LaunchOrder& order) = 0;
  /// The job is finished and its accounting record stored. Removes all its run folders, whether or
  /// not it ever ran, and `payload` (JobSpec::payload), which is empty if another job needs it.
  virtual void forget(JobId job, const std::string& payload) = 0;
  // Optional capabilities; an engine without them ignores the calls.
  /// Stops all processes of a run, or lets them go on. The time in between counts neither for its
  /// limit nor for Report::ran_ns. A stop order lets them go on first.
  virtual void suspend(RunId /*run*/, bool /*suspended*/) {}
  /// Power limit of a GPU in watts; 0 = none.
  virtual void cap(const GpuPlace& /*gpu*/, double /*watts*/) {}
  virtual void rest(const std::string& /*node*/) {}
  virtual void wake(const std::string& /*node*/) {}
  /// An operator vouches that nothing ran on the node at `at_ns`, when it was down: the engine
  /// forgets what it started there. A node that answers, or was lost later, is left alone.
  virtual void fence(const std::string& /*node*/, TimeNs /*at_ns*/) {}
  /// Called once, after a start and before all other calls: every job of the engine's queue that
  /// the job table holds and that has not ended. The engine says by events what differs: a job that
  /// is no longer there is gone.
  virtual void recall(const std::vector<KnownJob>& /*known*/) {}
  /// The job was cancelled here and has no run: ends it at the engine, even if it started
  /// meanwhile. JobGone follows.
  virtual void withdraw(JobId /*job*/, const std::string& /*engine_id*/) {}
  /// Copies data between storage tiers, or removes what was copied. StageReport follows.
  virtual void stage(const StageOrder& /*order*/) {}
  /// A commit cycle was completed: what was decided is durable, its orders are given. At most once
  /// a second. An engine that others replace when this ends shows it to them.
  virtual void beat() {}
  /// Another daemon has taken over: nothing is carried out any more, and this one should end.
  [[nodiscard]] virtual bool is_shut_out() const { return false; }
  /// Why its cluster cannot be asked now, for administrators; empty: it can, or it has none.
  [[nodiscard]] virtual std::string problem() const { return {}; }
  /// What its cluster refuses now, though it answers, for administrators; empty: nothing.
  [[nodiscard]] virtual std::string refusal() const { return {}; }
  /// What happened since the last call, in order for each run, job and node.
  [[nodiscard]] virtual std::vector<EngineEvent> take_events() = 0;
};

/// For engines that only report.
[[nodiscard]] inline std::vector<EngineEvent> events_of(std::vector<Report> reports) {
  return {std::make_move_iterator(reports.begin()), std::make_move_iterator(reports.end())};
}

/// A run and the GPUs that it holds.
struct HoldingRun {
  RunId run{};
  std::vector<GpuId> gpus{};
};

/// Read-only view of an engine's runs and GPUs, in addition to its reports. Const functions may be
/// called from any thread, read_gpus() from one thread at a time. Unknown values are empty.
class EngineView {
 public:
  virtual ~EngineView() = default;
  /// The current reading of each GPU. `holding`: the runs that were launched and have not ended.
  [[nodiscard]] virtual std::vector<base::gpus::GpuReading> read_gpus(
      const std::vector<HoldingRun>& /*holding*/, TimeNs /*now_ns*/) {
    return {};
  }
  /// Whether users read at the engine why their jobs wait; then tell_reasons() is called now and
  /// then, by one thread, with the sentences of `goban explain` by the engine's ids.
  [[nodiscard]] virtual bool wants_reasons() const { return false; }
  virtual void tell_reasons(std::map<std::string, std::string>&& /*reasons*/) {}
  /// Names that processes on nodes have for their part of a job, as the uid of a pod, and the
  /// engine's id of that job. Those of jobs of one part may be left out.
  [[nodiscard]] virtual std::map<std::string, std::string> parts_of_jobs() const { return {}; }
  /// The times that the ranks of a run reported last.
  [[nodiscard]] virtual std::vector<RankTimes> rank_times(RunId /*run*/) const { return {}; }
  /// The socket of a running interactive job's terminal, as its user can reach it.
  [[nodiscard]] virtual std::string terminal_socket(RunId /*run*/) const { return {}; }
};

}  // namespace goban::live
