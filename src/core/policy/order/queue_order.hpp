// QueueOrder: who goes first. Each policy maps a job to a sort key; smaller keys go first.
#pragma once

#include <compare>
#include <cstdint>
#include <span>

#include "core/model/job_state.hpp"
#include "core/model/site_rules.hpp"

namespace goban::core::policy {

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

/// PAL's artifact promotes a job that waited so long.
inline constexpr double kStarvation_s = 1000.0 * 3600;
/// Tier of a job that starved and was promoted, and of every other (PAL spec 7).
inline constexpr int32_t kPromotedTier = 1;
inline constexpr int32_t kNormalTier = 999;

/// What an order may read beside the job; brought up to date whenever the queue is sorted anew.
struct OrderView {
  /// By JobState::association: 1 = served least for its shares, towards 0 = most.
  std::span<const double> fair_share;
  uint32_t cluster_gpus = 0;

  [[nodiscard]] double fair_share_of(const model::JobState& job) const {
    return job.association < fair_share.size() ? fair_share[job.association] : 1.0;
  }
};

/// A pure function from job and view to key.
class QueueOrder {
 public:
  virtual ~QueueOrder() = default;
  /// The key of a waiting job is asked for when it starts to wait, and again whenever the queue is
  /// sorted anew; in between it stays.
  [[nodiscard]] virtual OrderKey key(const model::JobState& job, const OrderView& view,
                                     TimeNs now) const = 0;
  /// Keys of running jobs change with time, so the order has to be looked at again and again.
  [[nodiscard]] virtual bool drifts() const { return false; }
  /// Keys of waiting jobs change with time: the queue is sorted anew at multiples of this; 0 =
  /// never.
  [[nodiscard]] virtual TimeNs resort_ns() const { return 0; }
  /// Reads OrderView::fair_share.
  [[nodiscard]] virtual bool uses_fair_share() const { return false; }
};

}  // namespace goban::core::policy
