// QueueOrder: the order of waiting jobs. Each policy maps a job to a sort key; smaller keys first.
#pragma once

#include <compare>
#include <cstdint>
#include <span>

#include "core/model/job.hpp"
#include "core/model/site_rules.hpp"

namespace goban::core::policy {

using base::TimeNs;

/// Sort key of a job. `arrival` makes the order total.
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

/// Waiting time after which PAL's artifact promotes a job.
inline constexpr double kStarvation_s = 1000.0 * 3600;
/// Tiers of promoted jobs and of all others (PAL: queue order, docs/papers.md).
inline constexpr int32_t kPromotedTier = 1;
inline constexpr int32_t kNormalTier = 999;

/// Input of an order in addition to the job; updated whenever the whole queue is sorted again.
struct OrderView {
  /// Fair-share factor by JobState::association: 1 = least usage for its shares, near 0 = most.
  std::span<const double> fair_share;
  uint32_t cluster_gpus = 0;

  [[nodiscard]] double fair_share_of(const model::JobState& job) const {
    return job.association < fair_share.size() ? fair_share[job.association] : 1.0;
  }
};

/// Which keys of waiting jobs an order computes together, in prepare().
enum class KeyBatches : uint8_t {
  None,       ///< none: key() computes each by itself
  Newcomers,  ///< those of jobs without a final key, before the next decision that may start one
  All,        ///< those of all waiting jobs, before every decision that may start one
  Periodic,   ///< those of all waiting jobs, whenever the whole queue is sorted again
};

/// A pure function from job and view to key.
class QueueOrder {
 public:
  virtual ~QueueOrder() = default;
  /// The key of a waiting job is computed when it starts to wait and when the whole queue is sorted
  /// again; it is constant in between.
  [[nodiscard]] virtual OrderKey key(const model::JobState& job, const OrderView& view,
                                     TimeNs now) const = 0;
  /// Keys of running jobs change with time, so the order is evaluated periodically.
  [[nodiscard]] virtual bool drifts() const { return false; }
  /// Keys of waiting jobs change with time: the queue is sorted again at multiples of this
  /// interval; 0 = never.
  [[nodiscard]] virtual TimeNs resort_ns() const { return 0; }
  /// Reads OrderView::fair_share.
  [[nodiscard]] virtual bool uses_fair_share() const { return false; }

  /// Orders that compute many keys in one step. Before prepare(), key() of a job is provisional:
  /// the job waits behind those with a key.
  [[nodiscard]] virtual KeyBatches batches() const { return KeyBatches::None; }
  /// Computes the keys that key() returns from now on. If running jobs may have to yield, they
  /// follow the waiting ones.
  virtual void prepare(std::span<const model::JobState* const> jobs, TimeNs now) {
    (void)jobs, (void)now;
  }
  /// key() of this job will not change.
  [[nodiscard]] virtual bool is_final(const model::JobState& job) const {
    (void)job;
    return true;
  }
};

}  // namespace goban::core::policy
