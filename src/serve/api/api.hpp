// The API handlers by subject, and the context that they share.
#pragma once

#include <atomic>

#include "base/http/http_server.hpp"
#include "serve/api/daemon_parts.hpp"
#include "serve/api/router.hpp"
#include "serve/api/scheduler_client.hpp"
#include "serve/api/submission.hpp"

namespace goban::serve::api {

/// Everything it refers to outlives the handlers.
struct ApiContext {
  SchedulerClient& scheduler;
  const Payloads& payloads;
  SubmitLimits limits{};
  bool many_users = false;  ///< the daemon runs as root and can run jobs as other users
  DaemonParts parts{};
  std::atomic<const base::http::HttpServer*> server = nullptr;  ///< null until it listens
};

/// HTTP status of a rejected input: `wrong` if the scheduler would still reject it now; 503 if the
/// cause was the journal, the disk or a time-out.
[[nodiscard]] int status_of_refusal(const SchedulerClient& scheduler,
                                    const live::controller::Input& input, const base::Error& error,
                                    int wrong);

void add_job_routes(Router& router, const ApiContext& context);
void add_log_routes(Router& router, const ApiContext& context);
void add_node_routes(Router& router, const ApiContext& context);
void add_reservation_routes(Router& router, const ApiContext& context);
void add_series_route(Router& router, const ApiContext& context);
void add_metrics_route(Router& router, const ApiContext& context);

}  // namespace goban::serve::api
