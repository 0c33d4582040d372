// What an engine is to the live scheduler: it launches runs, stops them, and reports. Engines work
// on their own; nothing here blocks for longer than it takes to hand over an order.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/gpus/gpu.hpp"
#include "base/reports/run_reports.hpp"
#include "base/result.hpp"
#include "core/model/ids.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live {

using base::TimeNs;
using base::reports::Pace;
using base::reports::ProgressReport;
using base::reports::RankTimes;
using base::reports::RunPace;
using base::reports::RunUsage;
using core::model::GpuId;
using core::model::JobId;
using core::model::NodeId;

/// One launch of a job: the first has run 1. The same run is never launched twice: an engine that
/// is told to launch a run it knows does nothing but report again how it stands.
struct RunId {
  JobId job{};
  uint32_t run = 0;
  friend auto operator<=>(const RunId&, const RunId&) = default;
};

/// GPUs of one node, by their index there.
struct NodePart {
  NodeId node{};
  std::vector<int32_t> gpus{};
};

struct LaunchOrder {
  RunId run{};
  job::JobSpec spec{};
  std::vector<GpuId> gpus{};      ///< in the order the core selected them
  std::vector<NodePart> parts{};  ///< the same by node, in order of first appearance
  bool shares = false;            ///< others hold some of these GPUs, too
  uint32_t restarts = 0;          ///< launches before this one
};

enum class StopReason : uint8_t { Preempted, Cancelled, TimedOut, Broken };

enum class ReportKind : uint8_t {
  Started,   ///< the job's process runs
  Ended,     ///< it is gone, and all that it started
  Refused,   ///< it could not be started; `detail` says why
  Lost,      ///< its supervisor or node died: nobody knows how it ended, and nothing runs any more
  Progress,  ///< the job said where it stands
  NodeDown,  ///< a node, and all that ran on it
  NodeUp,
};

struct Report {
  ReportKind kind = ReportKind::Started;
  RunId run{};
  NodeId node{};                   ///< NodeDown, NodeUp
  TimeNs at_ns = 0;                ///< on the engine's clock, for the record; 0 = when it is taken
  int32_t exit_code = -1;          ///< Ended; -1 = by a signal
  int32_t signal = 0;              ///< Ended
  bool out_of_memory = false;      ///< Ended: it was killed for its memory, host or GPU
  bool acknowledged = false;       ///< Ended: after a stop it said that its checkpoint is safe
  RunUsage usage{};                ///< Ended
  std::vector<RankTimes> ranks{};  ///< Ended; by rank
  RunPace pace{};                  ///< Ended
  ProgressReport progress{};       ///< Progress
  std::string detail{};
};

/// Carries out orders. Called by one thread only. Every order may be repeated.
class Engine {
 public:
  virtual ~Engine() = default;
  /// Hands the order over; Started, Refused or Ended follows as a report.
  virtual void launch(const LaunchOrder& order) = 0;
  /// Asks the job to stop as its StopWish says: signal, SIGTERM, SIGKILL. Ended follows. A run that
  /// the engine does not know is Lost, and never starts from then on.
  virtual void stop(RunId run, StopReason reason) = 0;
  /// The book says that this run was launched. Reports how it stands: Started, Ended or Lost; a run
  /// that the engine does not know is Lost, and never starts from then on.
  virtual void resume(const LaunchOrder& order) = 0;
  /// The job is over, and its record safe: removes all its run folders, whether or not it ever ran,
  /// and `payload` (JobSpec::payload), which is empty if another job needs it.
  virtual void forget(JobId job, const std::string& payload) = 0;
  // What not every engine can do; one that cannot ignores it.
  /// Power limit of a GPU in watts; 0 = none.
  virtual void cap(GpuId /*gpu*/, double /*watts*/) {}
  virtual void rest(NodeId /*node*/) {}
  virtual void wake(NodeId /*node*/) {}
  /// What happened since the last call, in order for each run.
  [[nodiscard]] virtual std::vector<Report> take_reports() = 0;
};

/// A run, and the GPUs that it holds.
struct HoldingRun {
  RunId run{};
  std::vector<GpuId> gpus{};
};

/// What an engine knows of runs and GPUs beside its reports. Constant functions may be called from
/// any thread, read_gpus() from one at a time. What an engine does not know is empty.
class EngineView {
 public:
  virtual ~EngineView() = default;
  /// What each GPU does now. `holding`: the runs that were launched and are not over.
  [[nodiscard]] virtual std::vector<base::gpus::GpuReading> read_gpus(
      const std::vector<HoldingRun>& /*holding*/, TimeNs /*now_ns*/) {
    return {};
  }
  /// The times that the ranks of a run reported last.
  [[nodiscard]] virtual std::vector<RankTimes> rank_times(RunId /*run*/) const { return {}; }
  /// The socket of a running interactive job's terminal, as its user can reach it.
  [[nodiscard]] virtual std::string terminal_socket(RunId /*run*/) const { return {}; }
};

}  // namespace goban::live
