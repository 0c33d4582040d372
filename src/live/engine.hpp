// The interface of engines: an engine launches runs, stops them, and reports. It works
// asynchronously: no call blocks for longer than it takes to hand over an order.
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

/// One launch of a job; the first has number 1. The same run is never launched twice: on a repeated
/// order the engine only reports the state of the run again.
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
  std::vector<NodePart> parts{};  ///< the same GPUs by node, in order of first appearance
  bool shares = false;            ///< other jobs hold some of these GPUs
  uint32_t restarts = 0;          ///< launches before this one
};

enum class StopReason : uint8_t { Preempted, Cancelled, TimedOut, Broken };

enum class ReportKind : uint8_t {
  Started,  ///< the job's process runs
  Ended,    ///< the job's process and all that it started have exited
  Refused,  ///< it could not be started; `detail` holds the reason
  Lost,  ///< its supervisor or node failed: the outcome is unknown, and nothing of it runs any more
  Progress,  ///< a progress report of the job
  NodeDown,  ///< a node failed, with all runs on it
  NodeUp,
};

struct Report {
  ReportKind kind = ReportKind::Started;
  RunId run{};
  NodeId node{};  ///< NodeDown, NodeUp
  TimeNs at_ns =
      0;  ///< on the engine's clock, for the record; 0 = time at which the report is taken
  int32_t exit_code = -1;      ///< Ended; -1 = by a signal
  int32_t signal = 0;          ///< Ended
  bool out_of_memory = false;  ///< Ended: killed because it exceeded its host or GPU memory
  bool acknowledged =
      false;         ///< Ended: after a stop order it reported that its checkpoint is saved
  RunUsage usage{};  ///< Ended
  std::vector<RankTimes> ranks{};  ///< Ended; by rank
  RunPace pace{};                  ///< Ended
  ProgressReport progress{};       ///< Progress
  std::string detail{};
};

/// Carries out orders. Called by one thread only. Every order may be repeated.
class Engine {
 public:
  virtual ~Engine() = default;
  /// Launches the run. A report follows: Started, Refused or Ended.
  virtual void launch(const LaunchOrder& order) = 0;
  /// Stops the run as its StopRequest specifies: signal, SIGTERM, SIGKILL. Ended follows. A run
  /// that is unknown to the engine is reported Lost and never starts afterwards.
  virtual void stop(RunId run, StopReason reason) = 0;
  /// Takes up a run that was launched according to the job table. Reports its state: Started, Ended
  /// or Lost. A run that is unknown to the engine is Lost and never starts afterwards.
  virtual void resume(const LaunchOrder& order) = 0;
  /// The job is finished and its accounting record stored. Removes all its run folders, whether or
  /// not it ever ran, and `payload` (JobSpec::payload), which is empty if another job needs it.
  virtual void forget(JobId job, const std::string& payload) = 0;
  // Optional capabilities; an engine without them ignores the calls.
  /// Power limit of a GPU in watts; 0 = none.
  virtual void cap(GpuId /*gpu*/, double /*watts*/) {}
  virtual void rest(NodeId /*node*/) {}
  virtual void wake(NodeId /*node*/) {}
  /// Reports since the last call, in order for each run.
  [[nodiscard]] virtual std::vector<Report> take_reports() = 0;
};

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
  /// The times that the ranks of a run reported last.
  [[nodiscard]] virtual std::vector<RankTimes> rank_times(RunId /*run*/) const { return {}; }
  /// The socket of a running interactive job's terminal, as its user can reach it.
  [[nodiscard]] virtual std::string terminal_socket(RunId /*run*/) const { return {}; }
};

}  // namespace goban::live
