// Reservations: whole nodes that some people have to themselves, from a time to another. ABCI sells
// them by the day: in units of 24 h, up to 30 days.
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

/// What a site lets people reserve. It binds new reservations only.
struct ReservationRules {
  bool by_users = false;  ///< everybody for oneself; else operators only
  TimeNs unit_ns =
      int64_t{24} * 3600 * base::kSecond;  ///< a reservation is a whole number of these
  TimeNs longest_ns = int64_t{30} * 24 * 3600 * base::kSecond;
  TimeNs ahead_ns =
      int64_t{24} * 3600 * base::kSecond;  ///< it is made at least so long before its start
  int32_t nodes_max = 0;                   ///< of one reservation; 0 = all there are
  friend bool operator==(const ReservationRules&, const ReservationRules&) = default;
};

enum class ReservationState : uint8_t {
  Requested,  ///< its nodes are promised; it has not begun
  Active,
  Ended,
  Cancelled,  ///< before its end
};

/// Who has what, and when. Times are in ns since 1970.
struct ReservationPlan {
  job::Owner owner{};
  std::vector<std::string> users{};     ///< who may use it, beside its owner
  std::vector<std::string> accounts{};  ///< likewise, jobs of these accounts
  std::vector<NodeId> nodes{};
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  friend bool operator==(const ReservationPlan&, const ReservationPlan&) = default;

  [[nodiscard]] bool may_use(const std::string& user, const std::string& account) const {
    return user == owner.user || std::ranges::find(users, user) != users.end() ||
           (!account.empty() && std::ranges::find(accounts, account) != accounts.end());
  }
};

/// A reservation in the book.
struct LiveReservation {
  ReservationId id{};
  ReservationPlan plan{};
  ReservationState state = ReservationState::Requested;
  TimeNs made_ns = 0;
  TimeNs closed_ns = -1;  ///< when it ended or was cancelled; -1 = not yet
  std::string detail{};   ///< of its end, for a person

  [[nodiscard]] bool is_open() const {
    return state == ReservationState::Requested || state == ReservationState::Active;
  }
};

/// For people they are R1, R2, ...
[[nodiscard]] inline std::string reservation_name(ReservationId id) {
  return "R" + std::to_string(uint64_t{id.value} + 1);
}
/// `R7`, `r7` or, as batch systems number them, `7`. Nothing: that is no name of one.
[[nodiscard]] std::optional<ReservationId> parse_reservation_name(std::string_view name);
/// "requested", "active", "ended", "cancelled".
[[nodiscard]] std::string_view reservation_state_name(ReservationState state);

}  // namespace goban::live::controller
