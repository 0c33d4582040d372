// The handlers of the API by subject, and what they share.
#pragma once

#include <functional>
#include <string>

#include "base/http/http_server.hpp"
#include "core/knowledge/measure/learned_scores.hpp"
#include "serve/api/gpu_curves.hpp"
#include "serve/api/payload_store.hpp"
#include "serve/api/profile_book.hpp"
#include "serve/api/router.hpp"
#include "serve/api/scheduler_client.hpp"
#include "serve/api/submission.hpp"

namespace goban::serve::api {

struct GpuReadings {
  base::TimeNs at_ns = 0;          ///< since 1970; 0 = there were none so far
  std::vector<GpuReading> gpus{};  ///< by GPU; empty = nothing is measured
};

/// What is known of the scores of GPUs, and what knowing it cost since the start.
struct ScoreReport {
  std::vector<core::knowledge::ScoreFacts> gpus{};  ///< by GPU; empty = nobody keeps them
  int64_t measurements = 0;
  int64_t moved_by_jobs = 0;  ///< times that a GPU's score followed jobs that agree
  double spent_s = 0;         ///< GPU seconds of all measurements since their book began
  double budget_s = 0;        ///< what refreshing may have come to by now
};

/// All of it outlives the handlers.
struct ApiContext {
  Desk& desk;
  const PayloadStore& payloads;
  SubmissionLimits limits{};
  bool many_users = false;  ///< the daemon may become other users: it is root
  /// An empty function: nothing is measured. Any thread.
  std::function<GpuReadings()> gpu_readings{};
  /// What GPUs did; an empty function: nobody wrote it down. Any thread.
  std::function<base::Result<GpuCurves>(const GpuWindow&)> gpu_curves{};
  /// An empty function: nobody keeps the scores. Any thread.
  std::function<ScoreReport()> scores{};
  /// Answers POST /v1/whatif: JSON in and out; empty: not offered. Any thread.
  std::function<base::Result<std::string>(const std::string& body)> what_if{};
  std::function<base::http::HttpStats()> http_stats{};
  /// The socket of a running interactive job's terminal; empty: it has none. Any thread.
  std::function<std::string(live::RunId)> terminal_socket{};
  /// What the ranks of a run said so far. Any thread.
  std::function<std::vector<live::RankTimes>(live::RunId)> rank_times{};
  ProfileBook* profiles = nullptr;  ///< null: none are kept
};

/// HTTP status of an input that was not taken: `wrong` if the scheduler would not take it now
/// either, 503 if it was the journal, the disk or a time-out.
[[nodiscard]] int status_of_refusal(const Desk& desk, const live::controller::Input& input,
                                    const base::Error& error, int wrong);

void add_job_routes(Router& router, const ApiContext& context);
void add_log_routes(Router& router, const ApiContext& context);
void add_node_routes(Router& router, const ApiContext& context);
void add_reservation_routes(Router& router, const ApiContext& context);
void add_series_route(Router& router, const ApiContext& context);
void add_metrics_route(Router& router, const ApiContext& context);

}  // namespace goban::serve::api
