// What an engine is to the live scheduler: it launches runs, stops them, and reports. Engines work
// on their own; nothing here blocks for longer than it takes to hand over an order.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/model/ids.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live {

using base::TimeNs;
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

/// How a job stands, by its own words but for `busy_s`. Negative = it did not say.
struct ProgressNews {
  double epoch = -1;   ///< epochs done, with the fraction of the one in progress
  double epochs = -1;  ///< of all its work
  int64_t step = -1;   ///< iterations done in this run and those before
  int64_t steps = -1;
  double samples_per_s = -1;
  double loss = -1;
  /// Seconds of a GPU that this run kept busy, the mean of its GPUs, as the engine measured it; of
  /// jobs that say no epochs.
  double busy_s = -1;
  double input_stall_pct = -1;  ///< of its time so far, waiting for input
  bool checkpointed = false;    ///< a checkpoint as of this step is safe
  friend bool operator==(const ProgressNews&, const ProgressNews&) = default;
};

/// What one rank of a run said of its own time: sums since it began (docs/progress.md).
struct RankTimes {
  int32_t rank = 0;   ///< computes on the run's GPU of this position
  int32_t ranks = 0;  ///< how many there are
  int64_t steps = 0;
  double busy_s = 0;   ///< without the waits of collectives
  double wait_s = 0;   ///< in collectives
  double data_s = -1;  ///< waiting for input; negative = it did not say
  friend bool operator==(const RankTimes&, const RankTimes&) = default;
};

/// How far a count came between the first progress line of a run that told it and the last one that
/// raised it, by the clock of who heard them.
struct Pace {
  double done = 0;  ///< 0 = not known
  double over_s = 0;
  friend bool operator==(const Pace&, const Pace&) = default;
};

struct RunPace {
  Pace steps{};
  Pace epochs{};
  friend bool operator==(const RunPace&, const RunPace&) = default;
};

/// What a run used, as far as the engine measured; negative = not known.
struct RunUsage {
  double cpu_s = -1;
  int64_t mem_bytes_max = -1;
  int64_t gpu_mem_bytes_max = -1;  ///< of one GPU
  float gpu_util_pct = -1;         ///< mean over its GPUs and its time; so are the next three
  float memory_busy_pct = -1;      ///< of its time that GPU memory was read or written
  float dram_util_pct = -1;        ///< of the peak bandwidth of GPU memory
  float fu_util_pct = -1;          ///< of peak, of the functional units that it used most
  double energy_j = -1;            ///< of its GPUs
  friend bool operator==(const RunUsage&, const RunUsage&) = default;
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
  ProgressNews progress{};         ///< Progress
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

}  // namespace goban::live
