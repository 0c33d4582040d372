// POST /v1/nodes/{node}/agent: the reports of agents on nodes (docs/agent.md).
#include <nlohmann/json.hpp>
#include <utility>

#include "base/http/reply.hpp"
#include "serve/api/api.hpp"

namespace goban::serve::api {

namespace {

base::http::Response take_report(const Call& call, const ApiContext& context) {
  const std::string& node = call.names[0];
  if (!call.who.may_report(node)) {
    return base::http::refusal(base::http::kForbidden, "this token is for another node",
                               "use a token whose line names this node, or *");
  }
  if (context.parts.agents == nullptr) {
    return base::http::refusal(base::http::kConflict, "this daemon reads its GPUs itself",
                               "agents are for the engines slurm and kubernetes");
  }
  auto report = site::telemetry::parse_agent_report(call.request.body);
  if (!report) return base::http::refusal(base::http::kBadRequest, report.error());
  if (const auto taken = context.parts.agents->take(node, std::move(*report)); !taken) {
    const bool is_unknown = taken.error().code == base::ErrorCode::Usage;
    return base::http::refusal(is_unknown ? base::http::kNotFound : base::http::kUnavailable,
                               taken.error());
  }
  return base::http::reply({{"node", node}});
}

}  // namespace

void add_agent_route(Router& router, const ApiContext& context) {
  router.add("POST", "/v1/nodes/{}/agent", Access::Agent, {},
             [&context](const Call& call) { return take_report(call, context); });
}

}  // namespace goban::serve::api
