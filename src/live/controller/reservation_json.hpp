// Reservations as JSON, for the journal and its snapshots.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/json_fields.hpp"
#include "live/controller/reservation.hpp"

namespace goban::live::controller {

/// Adds the fields of a plan to an object, and reads them from one.
void put_plan(const ReservationPlan& plan, nlohmann::json& out);
void read_plan(base::FieldReader& in, ReservationPlan& plan);

[[nodiscard]] nlohmann::json to_json(const LiveReservation& reservation);
void read_reservation(base::FieldReader& in, LiveReservation& reservation);

}  // namespace goban::live::controller
