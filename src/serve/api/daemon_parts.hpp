// Interfaces of the daemon's parts, other than the scheduler, that the handlers use. All are
// thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/knowledge/measure/learned_scores.hpp"
#include "live/controller/job_book.hpp"
#include "live/engine.hpp"
#include "serve/api/gpu_curves.hpp"
#include "study/what_if.hpp"

namespace goban::serve::api {

/// Scripts, arguments and environments of unfinished jobs.
class Payloads {
 public:
  virtual ~Payloads() = default;
  /// Stores a payload durably: it survives a power failure. Returns its name. Errors: Failed.
  [[nodiscard]] virtual base::Result<std::string> write(std::string_view payload) const = 0;
  /// Removes a payload; unknown names are ignored.
  virtual void discard(const std::string& name) const = 0;
};

/// Job profiles by application.
class Profiles {
 public:
  virtual ~Profiles() = default;
  /// Fills the fields that a submission leaves unset from the profile of its application.
  virtual void fill(live::job::JobSpec& spec, std::string_view payload) const = 0;
  /// The profile of the job's application as JSON; empty if there is none.
  [[nodiscard]] virtual std::string find(const live::controller::LiveJob& job) = 0;
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

/// Null: not available. All of them outlive the service.
struct DaemonParts {
  Profiles* profiles = nullptr;
  const GpuMonitor* gpus = nullptr;
  const ScoreReporter* scores = nullptr;
  const live::EngineView* engine = nullptr;
  study::WhatIf* what_if = nullptr;
};

}  // namespace goban::serve::api
