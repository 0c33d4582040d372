// /v1/pilot: start, show, stop.
#include <nlohmann/json.hpp>
#include <utility>

#include "base/http/http_uri.hpp"
#include "base/http/reply.hpp"
#include "base/json_fields.hpp"
#include "core/pilot/outcomes.hpp"
#include "live/controller/pilots.hpp"
#include "serve/api/api.hpp"

namespace goban::serve::api {

using live::controller::LivePilot;
using nlohmann::json;

namespace {
constexpr size_t kTextBytesMax = 256;

json periods_json(const LivePilot& pilot, const std::vector<core::pilot::Outcomes>& periods) {
  json out = json::array();
  for (size_t i = 0; i < periods.size(); ++i) {
    const core::pilot::Outcomes& each = periods[i];
    const bool is_b = pilot.plan.arm(static_cast<int32_t>(i)) == core::pilot::Arm::B;
    out.push_back({{"policy", is_b ? pilot.plan.policy_b : pilot.plan.policy_a},
                   {"jobs", each.jobs},
                   {"missed", each.missed},
                   {"failed", each.failed},
                   {"gpu_hours", each.gpu_hours},
                   {"judged", each.judged},
                   {"wait_s_sum", each.wait_s},
                   {"slowdown_sum", each.slowdown}});
  }
  return out;
}

json pilot_json(const live::loop::SchedulerSnapshot& snapshot) {
  const LivePilot& pilot = *snapshot.book.pilot;
  json out = {{"plan", core::pilot::to_json(pilot.plan)},
              {"state", live::controller::pilot_state_name(pilot.state)},
              {"started_s", base::to_seconds(pilot.started_ns)},
              {"until_s", base::to_seconds(pilot.until_ns())},
              {"started_by", pilot.started_by},
              {"period", pilot.period},
              {"periods", periods_json(pilot, live::controller::pilot_outcomes(snapshot.book,
                                                                               snapshot.now_ns))}};
  if (!pilot.detail.empty()) out["detail"] = pilot.detail;
  if (!pilot.runs()) return out;
  out["policy"] = pilot.policy();
  out["period_until_s"] =
      base::to_seconds(pilot.started_ns + (pilot.period + 1) * pilot.plan.period_ns);
  return out;
}

base::http::Response show(const ApiContext& context) {
  json out;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    out = {{"policy", snapshot.site.composition.name}};
    if (snapshot.book.pilot) out["pilot"] = pilot_json(snapshot);
  });
  return base::http::reply(out);
}

base::http::Response ask(const Call& call, const ApiContext& context,
                         const live::controller::Input& input) {
  const auto answer = context.scheduler.ask(input);
  if (!answer) {
    const bool is_wrong = answer.error().code == base::ErrorCode::BadData;
    const int wrong = is_wrong ? base::http::kBadRequest : base::http::kConflict;
    return base::http::refusal(status_of_refusal(context.scheduler, input, answer.error(), wrong),
                               answer.error());
  }
  base::http::Response response = show(context);
  if (call.request.method == "POST") response.status = base::http::kCreated;
  return response;
}

live::controller::Caller caller_of(const Call& call) {
  return {.uid = call.who.owner.uid,
          .user = call.who.owner.user,
          .is_operator = call.who.is_operator(),
          .realm = call.who.owner.realm};
}

base::http::Response not_permitted() {
  return base::http::refusal(base::http::kForbidden, "only operators may start or stop a pilot",
                             "ask an operator");
}

base::http::Response start(const Call& call, const ApiContext& context) {
  if (!call.who.is_operator()) return not_permitted();
  if (base::Status valid = check_json(call.request.body); !valid) {
    return base::http::refusal(base::http::kBadRequest, valid.error());
  }
  auto plan = core::pilot::parse_plan(call.request.body, {});
  if (!plan) return base::http::refusal(base::http::kBadRequest, plan.error());
  return ask(call, context,
             live::controller::StartPilot{.plan = std::move(*plan), .by = caller_of(call)});
}

base::http::Response stop(const Call& call, const ApiContext& context) {
  if (!call.who.is_operator()) return not_permitted();
  std::string reason(call.query("reason"));
  if (reason.size() > kTextBytesMax || !base::http::is_plain_text(reason)) {
    return base::http::refusal(base::http::kBadRequest,
                               "is longer than 256 bytes or contains control characters", {},
                               "reason");
  }
  return ask(call, context,
             live::controller::StopPilot{.by = caller_of(call), .reason = std::move(reason)});
}

}  // namespace

void add_pilot_routes(Router& router, const ApiContext& context) {
  router.add("GET", "/v1/pilot", Access::Known, {},
             [&context](const Call&) { return show(context); });
  router.add("POST", "/v1/pilot", Access::Known, {},
             [&context](const Call& call) { return start(call, context); });
  router.add("DELETE", "/v1/pilot", Access::Known, {"reason"},
             [&context](const Call& call) { return stop(call, context); });
}

}  // namespace goban::serve::api
