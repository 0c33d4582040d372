#include "live/controller/reservation_json.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "live/controller/id_fields.hpp"

namespace goban::live::controller {

using nlohmann::json;

namespace {

constexpr uint32_t kIdMax = std::numeric_limits<uint32_t>::max();

}  // namespace

void put_plan(const ReservationPlan& plan, json& out) {
  out["owner"] = {{"uid", plan.owner.uid}, {"gid", plan.owner.gid}, {"user", plan.owner.user}};
  if (!plan.owner.realm.empty()) out["owner"]["realm"] = plan.owner.realm;
  out["users"] = plan.users;
  out["accounts"] = plan.accounts;
  out["nodes"] = numbers_of(plan.nodes);
  out["start"] = plan.start_ns;
  out["end"] = plan.end_ns;
}

void read_plan(base::FieldReader& in, ReservationPlan& plan) {
  in.object("owner", [&](base::FieldReader& part) {
    part.field("uid", plan.owner.uid, uint32_t{0}, kIdMax);
    part.field("gid", plan.owner.gid, uint32_t{0}, kIdMax);
    part.field("user", plan.owner.user);
  });
  in.field("users", plan.users);
  in.field("accounts", plan.accounts);
  if (in.find("nodes") == nullptr) in.fail("nodes", "is missing");
  read_ids(in, "nodes", plan.nodes);
  in.field("start", plan.start_ns, TimeNs{0}, base::kNever);
  in.field("end", plan.end_ns, TimeNs{0}, base::kNever);
}

json to_json(const LiveReservation& reservation) {
  json out{{"reservation", reservation.id.value},
           {"state", static_cast<int>(reservation.state)},
           {"made", reservation.made_ns},
           {"closed", reservation.closed_ns},
           {"detail", reservation.detail}};
  put_plan(reservation.plan, out);
  return out;
}

void read_reservation(base::FieldReader& in, LiveReservation& reservation) {
  read_id(in, "reservation", reservation.id);
  auto state = static_cast<uint32_t>(reservation.state);
  in.field("state", state, uint32_t{0}, static_cast<uint32_t>(ReservationState::Cancelled));
  reservation.state = static_cast<ReservationState>(state);
  in.field("made", reservation.made_ns, TimeNs{0}, base::kNever);
  in.field("closed", reservation.closed_ns, TimeNs{-1}, base::kNever);
  in.field("detail", reservation.detail);
  read_plan(in, reservation.plan);
}

}  // namespace goban::live::controller
