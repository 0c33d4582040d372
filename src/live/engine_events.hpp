// What engines tell: reports on runs, and, of an engine with a queue and nodes of its own, jobs
// that were seen or are gone, and the list of nodes (docs/decisions/0013-whose-jobs.md).
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/reports/run_reports.hpp"
#include "core/model/ids.hpp"
#include "live/job/job_spec.hpp"
#include "live/job/predicted_run.hpp"
#include "live/staging.hpp"

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

/// What a run holds on one node.
struct NodePart {
  std::string node{};           ///< its name
  std::vector<int32_t> gpus{};  ///< by their index on the node
  int32_t cores = 0;            ///< 0 = no cores in particular
  int64_t mem_bytes = 0;        ///< 0 = no memory in particular
  friend bool operator==(const NodePart&, const NodePart&) = default;
};

enum class ReportKind : uint8_t {
  Started,  ///< the job's process runs
  Ended,    ///< the job's process and all that it started have exited
  Refused,  ///< it could not be started; `detail` holds the reason
  Lost,  ///< its supervisor or node failed: the outcome is unknown, and nothing of it runs any more
  Progress,  ///< a progress report of the job; or `detail` says what hangs, for users
  NodeDown,  ///< a node failed, with all runs on it
  NodeUp,
  /// The machine could not start it (disk full, too many processes or open files): it never began
  /// and never will. The job is not to blame; `detail` holds the reason.
  Unable,
  /// Nothing was started, and nothing will be: what the order names was taken by somebody else, or
  /// the engine's own rules forbid it for now. The job waits again. `parts` holds what is to be
  /// left out for a while, `detail` the reason. Unlike Refused, the job is not to blame.
  Declined,
};

struct Report {
  ReportKind kind = ReportKind::Started;
  RunId run{};
  std::string node{};  ///< NodeDown, NodeUp: its name
  NodeId node_id{};    ///< instead of `node`, in journals of earlier releases only
  /// Started: what the run was really given, if that is known to differ from the order.
  /// Declined: nodes (without GPUs: the whole node) to be left out; empty = all of the order's.
  std::vector<NodePart> parts{};
  TimeNs at_ns =
      0;  ///< on the engine's clock, for the record; 0 = time at which the report is taken
  TimeNs ran_ns =
      -1;  ///< Ended: its duration without suspensions, by a clock that nobody sets; -1 = unknown
  int32_t exit_code = -1;      ///< Ended; -1 = by a signal
  int32_t signal = 0;          ///< Ended
  bool out_of_memory = false;  ///< Ended: killed because it exceeded its host or GPU memory
  /// Started: the engine itself ends the run at LaunchOrder::limit_ns, by a clock that nobody sets.
  /// Ended: it did.
  bool limited = false;
  bool cancelled = false;  ///< Ended: by its user or an administrator, at the engine
  bool acknowledged =
      false;         ///< Ended: after a stop order it reported that its checkpoint is saved
  RunUsage usage{};  ///< Ended
  std::vector<RankTimes> ranks{};  ///< Ended; by rank
  RunPace pace{};                  ///< Ended
  ProgressReport progress{};       ///< Progress
  std::string detail{};
};

/// Where a job stands at the engine.
enum class SeenState : uint8_t {
  Waiting,
  Running,
};

/// A job of the engine's own queue: it appeared, something of it changed, or it was found running.
/// All fields hold what is true now, not only what changed.
struct JobSeen {
  std::string id{};  ///< at the engine; unique among its jobs that have not ended
  bool managed =
      false;  ///< Goban decides when and where it runs; otherwise it only holds resources
  SeenState state = SeenState::Waiting;
  /// Running: the run as which it was launched here, as stored at the engine. Invalid: it was
  /// started by somebody else. Such a job that is managed is adopted: resume() names its run.
  RunId run{};
  /// Name, owner and request. `held`: by its user, there. Without payload, paths and array_first.
  job::JobSpec spec{};
  std::string array{};  ///< array tasks: the id that all its tasks share; spec.array_task is set
  /// Waiting: why the engine would not start it now if it were told to (a limit, a dependency, a
  /// reservation), for users; the job is not eligible meanwhile. Empty: it would. Not managed: why
  /// it is not, if that is known.
  std::string blocked{};
  TimeNs submit_ns = 0;           ///< 0 = unknown
  TimeNs start_ns = -1;           ///< Running; -1 = unknown
  std::vector<NodePart> parts{};  ///< Running: what it holds
  /// Of a managed job that is seen for the first time; set by CommitCycle.
  job::PredictedRun predicted{};
};

/// How a job of the engine's queue ended.
enum class GoneHow : uint8_t {
  Unknown,
  Completed,
  Failed,
  Cancelled,  ///< by its user or an administrator, there
  TimedOut,
  OutOfMemory,
  NodeFailed,
};

/// A job that was seen has ended or is no longer there. If a run of it was launched here, its
/// report (Ended, Lost, Declined) comes before.
struct JobGone {
  std::string id{};
  GoneHow how = GoneHow::Unknown;
  int32_t exit_code = -1;
  int32_t signal = 0;
  std::string detail{};  ///< for users
};

enum class SeenNodeState : uint8_t {
  Up,
  Drained,  ///< nothing new may start there; what runs continues
  Down,
};

struct SeenNode {
  std::string name{};
  int32_t num_gpus = 0;
  std::string gpu_model{};
  int64_t gpu_mem_bytes = 0;  ///< of each; 0 = unknown
  int32_t cores = 0;          ///< 0 = unknown
  int64_t mem_bytes = 0;      ///< host memory; 0 = unknown
  SeenNodeState state = SeenNodeState::Up;
  std::string reason{};  ///< Drained, Down
  /// Drained: it does not answer while runs are on it, and the engine does not know whether they go
  /// on. An operator may fence it.
  bool silent = false;
  std::string rack{};  ///< levels of the topology; empty = there is none
  std::string zone{};
  std::string site{};
  uint32_t islands = 1;  ///< number of equal NVLink islands or sockets
  /// A job of one of these partitions may run here; empty: of any. With " at 0,2" at its end, a
  /// partition has only the GPUs with these indices of its nodes.
  std::vector<std::string> partitions{};
  friend bool operator==(const SeenNode&, const SeenNode&) = default;
};

/// All nodes of the cluster, whatever their state. A node that is missing has left.
struct ClusterSeen {
  std::vector<SeenNode> nodes{};
  friend bool operator==(const ClusterSeen&, const ClusterSeen&) = default;
};

using EngineEvent = std::variant<Report, JobSeen, JobGone, ClusterSeen, StageReport>;

}  // namespace goban::live
