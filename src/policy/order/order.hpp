// Order: who goes first. Each policy maps a job to a sort key; smaller keys go first (spec pal, 7).
#pragma once

#include <compare>
#include <cstdint>
#include <memory>

#include "model/job_state.hpp"

namespace goban::policy {

using base::TimeNs;

/// Sort key of a job. `arrival` makes the order total: ties go to who came first.
struct OrderKey {
  int32_t tier = 0;
  uint32_t arrival = 0;
  int64_t metric = 0;

  friend bool operator==(const OrderKey&, const OrderKey&) = default;
  friend std::strong_ordering operator<=>(const OrderKey& a, const OrderKey& b) {
    if (const auto tiers = a.tier <=> b.tier; tiers != 0) return tiers;
    if (const auto metrics = a.metric <=> b.metric; metrics != 0) return metrics;
    return a.arrival <=> b.arrival;
  }
};

/// Tier of a job that starved and was promoted, and of every other (PAL spec 7).
inline constexpr int32_t kPromotedTier = 1;
inline constexpr int32_t kNormalTier = 999;

/// A pure function from job to key. The key of a waiting job may not depend on the time: it is
/// asked for once, when the job starts to wait.
class Order {
 public:
  virtual ~Order() = default;
  [[nodiscard]] virtual OrderKey key(const model::JobState& job, TimeNs now) const = 0;
  /// Keys of running jobs change with time, so the order has to be looked at again and again.
  [[nodiscard]] virtual bool drifts() const { return false; }
};

std::unique_ptr<Order> make_fifo();
std::unique_ptr<Order> make_priority();
/// Attained service is compared in whole multiples of `quantum_ns`; 0 = exactly. Without it two
/// jobs would take turns at every event.
std::unique_ptr<Order> make_las(TimeNs quantum_ns);
std::unique_ptr<Order> make_srtf(const model::WorkOracle* oracle);

}  // namespace goban::policy
