// Interfaces of the daemon's parts, other than the scheduler, that the handlers use. All are
// thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/knowledge/durations/start_calibration.hpp"
#include "core/knowledge/measure/learned_scores.hpp"
#include "core/model/start_interval.hpp"
#include "live/controller/job_book.hpp"
#include "live/engine.hpp"
#include "serve/api/gpu_curves.hpp"
#include "serve/api/job_name.hpp"
#include "serve/stores/profile_book.hpp"
#include "site/telemetry/agent_report.hpp"
#include "study/what_if.hpp"

namespace goban::serve::api {

/// Which past jobs.
struct PastQuery {
  std::string user{};                     ///< empty: all
  std::vector<JobName> names{};           ///< an array's number means all its tasks; empty: all
  std::optional<base::TimeNs> from_ns{};  ///< ended at or after
  std::optional<base::TimeNs> to_ns{};    ///< ended before
  int64_t limit = 1'000;                  ///< at most this many: those that ended last
};

/// Finished jobs, also those that the scheduler no longer has.
class PastJobs {
 public:
  virtual ~PastJobs() = default;
  /// The jobs, the last to end first. Errors: Failed if the history cannot be read now.
  [[nodiscard]] virtual base::Result<std::vector<live::controller::LiveJob>> find(
      const PastQuery& query) = 0;
};

struct GpuReadings {
  base::TimeNs at_ns = 0;          ///< Unix time; 0 = no readings yet
  std::vector<GpuReading> gpus{};  ///< by GPU; empty = GPUs are not measured
};

/// Readings of the GPUs.
class GpuMonitor {
 public:
  virtual ~GpuMonitor() = default;
  [[nodiscard]] virtual GpuReadings latest() const = 0;
  /// Readings of GPUs over a time window. Errors: those of the series store.
  [[nodiscard]] virtual base::Result<GpuCurves> curves(const GpuWindow& window) const = 0;
};

struct ProgressPoint {
  double at_s = 0;  ///< Unix time of the report
  live::ProgressReport report{};
};

/// Progress of jobs over time.
class ProgressHistory {
 public:
  virtual ~ProgressHistory() = default;
  /// By time; empty if the job has reported nothing.
  [[nodiscard]] virtual std::vector<ProgressPoint> of(core::model::JobId job) const = 0;
};

/// State of the PM scores of the GPUs, and the cost of measuring them.
struct ScoreReport {
  std::vector<core::knowledge::ScoreFacts> gpus{};  ///< by GPU; empty = no scores are kept
  int64_t measurements = 0;                         ///< since the daemon started
  int64_t moved_by_jobs = 0;  ///< score changes caused by agreeing evidence of several users' jobs
  double spent_s = 0;         ///< GPU seconds of all measurements in the measurement log
  double budget_s = 0;        ///< GPU seconds that repeated measurements may have cost until now
};

class ScoreReporter {
 public:
  virtual ~ScoreReporter() = default;
  [[nodiscard]] virtual ScoreReport report() const = 0;
};

/// When waiting jobs are expected to start.
struct StartTable {
  base::TimeNs made_ns = 0;  ///< the scheduler's time; 0 = none yet
  std::map<core::model::JobId, core::model::StartInterval> starts{};
  core::knowledge::StartCalibration calibration{};  ///< of `starts`, for other forecasts
  int runs = 0;                                     ///< that they rest on
  double took_s = 0;
  int64_t known = 0;   ///< starts of jobs with a forecast since the daemon started
  int64_t inside = 0;  ///< of them, those in the interval that was shown first
};

class StartTimes {
 public:
  virtual ~StartTimes() = default;
  /// Never null.
  [[nodiscard]] virtual std::shared_ptr<const StartTable> latest() const = 0;
};

/// What is known of the agent on a node (docs/agent.md).
struct AgentStand {
  double report_s = 0;      ///< Unix time of its last report
  bool lost = false;        ///< no report for three of its intervals
  double clock_skew_s = 0;  ///< of the node's clock, by the last report; positive: it is ahead
  int64_t dropped = 0;      ///< samples that the agent lost, as its queue was full
  std::string problem{};    ///< why it reads no GPUs; empty: none
};

/// Takes the reports of agents on nodes.
class AgentInbox {
 public:
  virtual ~AgentInbox() = default;
  /// A report that was taken before changes nothing. Errors: Usage if there is no such node; Failed
  /// if the samples have to be sent again.
  [[nodiscard]] virtual base::Status take(const std::string& node,
                                          site::telemetry::AgentReport report) = 0;
  /// Of all nodes that ever had an agent, by name.
  [[nodiscard]] virtual std::map<std::string, AgentStand> stands() const = 0;
};

/// Null: not available. All of them outlive the service.
struct DaemonParts {
  stores::ProfileBook* profiles = nullptr;
  PastJobs* past = nullptr;
  const GpuMonitor* gpus = nullptr;
  const ScoreReporter* scores = nullptr;
  const ProgressHistory* progress = nullptr;
  const live::EngineView* engine = nullptr;
  study::WhatIf* what_if = nullptr;
  const StartTimes* starts = nullptr;
  AgentInbox* agents = nullptr;
};

}  // namespace goban::serve::api
