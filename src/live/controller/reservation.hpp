// Reservations: whole nodes set aside for some users or accounts from one time to another. The
// defaults follow ABCI, which sells them in units of 24 h, up to 30 days.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/ids.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live::controller {

using base::TimeNs;
using core::model::NodeId;
using core::model::ReservationId;

/// A site's rules for reservations. They apply to new reservations only.
struct ReservationRules {
  bool by_users = false;  ///< users may reserve for themselves; otherwise only operators may
  TimeNs unit_ns = int64_t{24} * 3600 * base::kSecond;  ///< the length is a multiple of this
  TimeNs longest_ns = int64_t{30} * 24 * 3600 * base::kSecond;
  TimeNs ahead_ns = int64_t{24} * 3600 * base::kSecond;  ///< minimum time between request and start
  int32_t nodes_max = 0;  ///< maximum of one reservation; 0 = no limit
  friend bool operator==(const ReservationRules&, const ReservationRules&) = default;
};

enum class ReservationState : uint8_t {
  Requested,  ///< its nodes are set aside; it has not begun
  Active,
  Ended,
  Cancelled,  ///< ended early by a request
};

/// Users, nodes and period of a reservation. Times are in ns since 1970.
struct ReservationPlan {
  job::Owner owner{};
  std::vector<std::string> users{};     ///< users who may use it, in addition to its owner
  std::vector<std::string> accounts{};  ///< accounts whose jobs may use it
  std::vector<NodeId> nodes{};
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  friend bool operator==(const ReservationPlan&, const ReservationPlan&) = default;

  /// `user`: job::full_name() of the owner of a job.
  [[nodiscard]] bool may_use(const std::string& user, const std::string& account) const {
    return user == job::full_name(owner) || std::ranges::find(users, user) != users.end() ||
           (!account.empty() && std::ranges::find(accounts, account) != accounts.end());
  }
};

/// A reservation of the job table.
struct LiveReservation {
  ReservationId id{};
  ReservationPlan plan{};
  ReservationState state = ReservationState::Requested;
  TimeNs made_ns = 0;
  TimeNs closed_ns = -1;  ///< when it ended or was cancelled; -1 = not yet
  std::string detail{};   ///< reason of its end, for users

  [[nodiscard]] bool is_open() const {
    return state == ReservationState::Requested || state == ReservationState::Active;
  }
};

/// The displayed name: R1, R2, ...
[[nodiscard]] inline std::string reservation_name(ReservationId id) {
  return "R" + std::to_string(uint64_t{id.value} + 1);
}
/// Parses `R7`, `r7` or `7`; nothing if the name is invalid.
[[nodiscard]] std::optional<ReservationId> parse_reservation_name(std::string_view name);
/// "requested", "active", "ended", "cancelled".
[[nodiscard]] std::string_view reservation_state_name(ReservationState state);

}  // namespace goban::live::controller
