// The API handlers by subject, and the context that they share.
#pragma once

#include <atomic>

#include "base/http/http_server.hpp"
#include "live/loop/live_scheduler.hpp"
#include "serve/api/daemon_parts.hpp"
#include "serve/api/file_work.hpp"
#include "serve/api/router.hpp"
#include "serve/api/submission.hpp"
#include "serve/stores/payload_store.hpp"

namespace goban::serve::api {

/// Everything it refers to outlives the handlers.
struct ApiContext {
  live::loop::SchedulerClient& scheduler;
  const stores::PayloadStore& payloads;
  FileWork& files;  ///< for all that may lie on a file system of users
  SubmitLimits limits{};
  bool many_users = false;  ///< the daemon runs as root and can run jobs as other users
  DaemonParts parts{};
  std::atomic<const base::http::HttpServer*> server = nullptr;  ///< null until it listens
};

/// HTTP status of a rejected input: `wrong` if the scheduler would still reject it now; 503 if the
/// cause was the journal, the disk or a time-out.
[[nodiscard]] int status_of_refusal(const live::loop::SchedulerClient& scheduler,
                                    const live::controller::Input& input, const base::Error& error,
                                    int wrong);

/// The finished job of this name that the scheduler no longer has; none: there is none. Errors:
/// Failed if the history cannot be read now.
[[nodiscard]] base::Result<std::optional<live::controller::LiveJob>> find_past_job(
    const ApiContext& context, std::string_view name);
/// Removes the dependencies that jobs of the history satisfy. Others than the caller may see stay.
/// Errors: BadData if one can never be satisfied; Failed if the history cannot be read now.
[[nodiscard]] base::Status settle_past_dependencies(live::job::JobSpec& spec, const Identity& who,
                                                    const ApiContext& context);
/// GET /v1/jobs?past=1.
[[nodiscard]] base::http::Response list_past_jobs(const Call& call, const ApiContext& context);

void add_submit_route(Router& router, const ApiContext& context);
void add_job_routes(Router& router, const ApiContext& context);
void add_job_change_routes(Router& router, const ApiContext& context);
void add_forecast_route(Router& router, const ApiContext& context);
void add_log_routes(Router& router, const ApiContext& context);
void add_node_routes(Router& router, const ApiContext& context);
void add_agent_route(Router& router, const ApiContext& context);
void add_pilot_routes(Router& router, const ApiContext& context);
void add_reservation_routes(Router& router, const ApiContext& context);
void add_series_route(Router& router, const ApiContext& context);
void add_overview_route(Router& router, const ApiContext& context);
void add_metrics_route(Router& router, const ApiContext& context);

}  // namespace goban::serve::api
