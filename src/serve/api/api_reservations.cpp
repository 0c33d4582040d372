// /v1/reservations: make, list, show, cancel.
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/http/http_uri.hpp"
#include "base/http/reply.hpp"
#include "base/json_fields.hpp"
#include "serve/api/api.hpp"

namespace goban::serve::api {

using nlohmann::json;

namespace {
constexpr size_t kTextBytesMax = 256;

/// The JSON view of a reservation. Callers who may see jobs of its owner get all fields.
json reservation_json(const live::controller::LiveReservation& each,
                      const core::model::Cluster& cluster, const Identity& who) {
  json nodes = json::array();
  int64_t num_gpus = 0;
  for (const core::model::NodeId node : each.plan.nodes) {
    if (node.index() >= cluster.nodes().size()) continue;
    nodes.push_back(cluster.node(node).name);
    num_gpus += cluster.node(node).num_gpus;
  }
  json out = {{"reservation", live::controller::reservation_name(each.id)},
              {"state", live::controller::reservation_state_name(each.state)},
              {"user", each.plan.owner.user},
              {"nodes", std::move(nodes)},
              {"num_gpus", num_gpus},
              {"start_s", base::to_seconds(each.plan.start_ns)},
              {"end_s", base::to_seconds(each.plan.end_ns)},
              {"made_s", base::to_seconds(each.made_ns)}};
  if (each.closed_ns >= 0) out["closed_s"] = base::to_seconds(each.closed_ns);
  if (!each.detail.empty()) out["detail"] = each.detail;
  if (!who.may_see(each.plan.owner, {})) return out;
  out["users"] = each.plan.users;
  out["accounts"] = each.plan.accounts;
  return out;
}

base::http::Response list_reservations(const Call& call, const ApiContext& context) {
  json out = json::array();
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    for (const auto& [id, each] : snapshot.book.reservations) {
      out.push_back(reservation_json(each, snapshot.site.cluster, call.who));
    }
  });
  return base::http::reply({{"reservations", std::move(out)}});
}

/// The reservation that a path names; null if there is none.
const live::controller::LiveReservation* named(const Call& call,
                                               const live::controller::JobBook& book) {
  const auto id = live::controller::parse_reservation_name(call.names[0]);
  return id ? book.find(*id) : nullptr;
}

base::http::Response no_such() {
  return base::http::refusal(base::http::kNotFound, "there is no such reservation",
                             "goban reservations lists them");
}

base::http::Response show_reservation(const Call& call, const ApiContext& context) {
  json out;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    const live::controller::LiveReservation* const each = named(call, snapshot.book);
    if (each != nullptr) out = reservation_json(*each, snapshot.site.cluster, call.who);
  });
  return out.is_null() ? no_such() : base::http::reply(out);
}

/// The content of a request body.
struct ReservationRequest {
  live::controller::Reserve reserve{};
  std::vector<std::string> nodes{};
  std::string user{};
};

base::Result<ReservationRequest> parse_request(const std::string& text) {
  if (base::Status valid = check_json(text); !valid) return base::failure(std::move(valid.error()));
  const json body = json::parse(text);
  base::FieldReader in(body, "");
  ReservationRequest request;
  live::controller::ReservationPlan& plan = request.reserve.plan;
  in.field("nodes", request.nodes);
  in.field("num_nodes", request.reserve.num_nodes, 0, INT32_MAX);
  in.field("kind", request.reserve.kind);
  in.field("user", request.user);
  in.field("users", plan.users);
  in.field("accounts", plan.accounts);
  in.seconds("start_s", plan.start_ns);
  in.seconds("end_s", plan.end_ns);
  // Times are in whole seconds: fractions are artefacts of the client's arithmetic.
  plan.start_ns -= plan.start_ns % base::kSecond;
  plan.end_ns -= plan.end_ns % base::kSecond;
  for (const auto& [name, value] :
       {std::pair{"kind", &request.reserve.kind}, {"user", &request.user}}) {
    if (in.good() && (value->size() > kTextBytesMax || !base::http::is_plain_text(*value))) {
      in.fail(name, "is longer than 256 bytes or contains control characters");
    }
  }
  if (in.good() && !request.nodes.empty() && request.reserve.num_nodes > 0) {
    in.fail("num_nodes", "cannot be combined with nodes; remove one");
  }
  if (in.good() && !in.unknown().empty()) in.fail(in.unknown().front(), "unknown field");
  if (base::Status read = in.status(); !read) return base::failure(std::move(read.error()));
  return request;
}

int status_of(const ApiContext& context, const live::controller::Input& input,
              const base::Error& error) {
  const bool is_wrong = error.code == base::ErrorCode::BadData;
  return status_of_refusal(context.scheduler, input, error,
                           is_wrong ? base::http::kBadRequest : base::http::kConflict);
}

base::http::Response reserve(const Call& call, const ApiContext& context) {
  bool by_users = false;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    by_users = snapshot.site.reservations.by_users;
  });
  const bool may = call.who.is_operator() || (by_users && call.who.may_submit());
  if (!may)
    return base::http::refusal(base::http::kForbidden, "only operators may make reservations here",
                               "ask an operator");
  base::Result<ReservationRequest> request = parse_request(call.request.body);
  if (!request) return base::http::refusal(base::http::kBadRequest, request.error());
  live::controller::Reserve& input = request->reserve;
  input.plan.owner = call.who.owner;
  if (!request->user.empty() && request->user != call.who.owner.user) {
    if (!call.who.is_operator()) {
      return base::http::refusal(base::http::kForbidden,
                                 "only operators may reserve for another user", "omit user");
    }
    base::Result<live::job::Owner> found = find_user(request->user);
    if (!found) return base::http::refusal(base::http::kBadRequest, found.error());
    input.plan.owner = std::move(*found);
  }
  input.by = {.uid = call.who.owner.uid,
              .user = call.who.owner.user,
              .is_operator = call.who.is_operator(),
              .realm = call.who.owner.realm};
  std::string unknown;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    for (const std::string& name : request->nodes) {
      const auto node = snapshot.site.cluster.find_node(name);
      if (node) input.plan.nodes.push_back(*node);
      if (!node && unknown.empty()) unknown = name;
    }
  });
  if (!unknown.empty()) {
    return base::http::refusal(base::http::kBadRequest, fmt::format("there is no node {}", unknown),
                               "goban nodes lists them", "nodes");
  }
  const auto answer = context.scheduler.ask(input);
  if (!answer)
    return base::http::refusal(status_of(context, input, answer.error()), answer.error());
  json out;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    const auto* made = snapshot.book.find(answer->reservation);
    if (made != nullptr) out = reservation_json(*made, snapshot.site.cluster, call.who);
  });
  base::http::Response response = base::http::reply(out);
  response.status = base::http::kCreated;
  return response;
}

base::http::Response cancel(const Call& call, const ApiContext& context) {
  const live::controller::Caller by{.uid = call.who.owner.uid,
                                    .user = call.who.owner.user,
                                    .is_operator = call.who.is_operator(),
                                    .realm = call.who.owner.realm};
  live::controller::CancelReservation input{.reservation = {}, .by = by};
  bool may = false;
  context.scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    const live::controller::LiveReservation* const found = named(call, snapshot.book);
    if (found == nullptr) return;
    input.reservation = found->id;
    may = call.who.may_submit() && (by.is_operator || by.owns(found->plan.owner));
  });
  if (!input.reservation.valid()) return no_such();
  if (!may)
    return base::http::refusal(base::http::kForbidden, "the reservation belongs to another user");
  const auto answer = context.scheduler.ask(input);
  if (!answer)
    return base::http::refusal(status_of(context, input, answer.error()), answer.error());
  return base::http::reply(
      {{"reservation", live::controller::reservation_name(input.reservation)}});
}
}  // namespace

void add_reservation_routes(Router& router, const ApiContext& context) {
  router.add("POST", "/v1/reservations", Access::Known, {},
             [&context](const Call& call) { return reserve(call, context); });
  router.add("GET", "/v1/reservations", Access::Known, {},
             [&context](const Call& call) { return list_reservations(call, context); });
  router.add("GET", "/v1/reservations/{}", Access::Known, {},
             [&context](const Call& call) { return show_reservation(call, context); });
  router.add("DELETE", "/v1/reservations/{}", Access::Known, {},
             [&context](const Call& call) { return cancel(call, context); });
}

}  // namespace goban::serve::api
