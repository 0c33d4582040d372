// What the handlers ask of the daemon's parts beside the scheduler. All of it from any thread.
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

/// Scripts, arguments and environments of jobs, until the jobs are over.
class Payloads {
 public:
  virtual ~Payloads() = default;
  /// Keeps one so that it survives a power failure; returns its name. Errors: Failed.
  [[nodiscard]] virtual base::Result<std::string> write(std::string_view payload) const = 0;
  /// Removes one; unknown names are ignored.
  virtual void discard(const std::string& name) const = 0;
};

/// Job profiles by application.
class Profiles {
 public:
  virtual ~Profiles() = default;
  /// Adds what is known of its application to a submission, where it says nothing itself.
  virtual void fill(live::job::JobSpec& spec, std::string_view payload) const = 0;
  /// The profile of the job's application as JSON; empty: there is none.
  [[nodiscard]] virtual std::string find(const live::controller::LiveJob& job) = 0;
};

struct GpuReadings {
  base::TimeNs at_ns = 0;          ///< since 1970; 0 = there were none so far
  std::vector<GpuReading> gpus{};  ///< by GPU; empty = nothing is measured
};

/// Readings of the GPUs.
class GpuMonitor {
 public:
  virtual ~GpuMonitor() = default;
  [[nodiscard]] virtual GpuReadings latest() const = 0;
  /// What GPUs did in a window. Errors: those of the series store.
  [[nodiscard]] virtual base::Result<GpuCurves> curves(const GpuWindow& window) const = 0;
};

/// What is known of the PM scores of GPUs, and what measuring them cost since the start.
struct ScoreReport {
  std::vector<core::knowledge::ScoreFacts> gpus{};  ///< by GPU; empty = no scores are kept
  int64_t measurements = 0;
  int64_t moved_by_jobs = 0;  ///< times that a GPU's score followed jobs that agree
  double spent_s = 0;         ///< GPU seconds of all measurements since their book began
  double budget_s = 0;        ///< what refreshing may have cost by now
};

class ScoreReporter {
 public:
  virtual ~ScoreReporter() = default;
  [[nodiscard]] virtual ScoreReport report() const = 0;
};

/// Null = not offered. All of them outlive the service.
struct DaemonParts {
  Profiles* profiles = nullptr;
  const GpuMonitor* gpus = nullptr;
  const ScoreReporter* scores = nullptr;
  const live::EngineView* engine = nullptr;
  study::WhatIf* what_if = nullptr;
};

}  // namespace goban::serve::api
