#include "live/controller/reservation.hpp"

#include <array>

#include "base/number.hpp"

namespace goban::live::controller {

std::optional<ReservationId> parse_reservation_name(std::string_view name) {
  if (name.starts_with('R') || name.starts_with('r')) name.remove_prefix(1);
  const bool digits =
      !name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
  const auto number = digits ? base::parse_int(name) : std::nullopt;
  if (!number || *number < 1 || *number > int64_t{UINT32_MAX}) return std::nullopt;
  return ReservationId(static_cast<uint32_t>(*number - 1));
}

std::string_view reservation_state_name(ReservationState state) {
  constexpr std::array<std::string_view, 4> kNames = {"requested", "active", "ended", "cancelled"};
  return kNames[static_cast<size_t>(state)];
}

}  // namespace goban::live::controller
