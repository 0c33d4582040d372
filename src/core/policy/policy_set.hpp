// The policy of a core: one part per kind, built for a run.
#pragma once

#include <memory>
#include <string>

#include "base/time.hpp"
#include "core/model/ids.hpp"
#include "core/model/site_rules.hpp"
#include "core/policy/preemption/preemption.hpp"

namespace goban::core::policy {

class QueueOrder;
class Select;
class Placement;
class Sharing;
class Power;
class Migration;
class SizePolicy;

/// Built by Composition::make (compose.hpp).
struct PolicySet {
  PolicySet();
  PolicySet(PolicySet&&) noexcept;
  PolicySet& operator=(PolicySet&&) noexcept;
  ~PolicySet();

  std::string name;
  std::shared_ptr<const model::SiteRules> rules = std::make_shared<model::SiteRules>();
  std::unique_ptr<QueueOrder> order;
  std::unique_ptr<Select> select;
  std::unique_ptr<Placement> placement;
  std::unique_ptr<Sharing> sharing;
  std::unique_ptr<Power> power;
  std::unique_ptr<Migration> migration;
  std::unique_ptr<SizePolicy> size;
  Preemption preemption = Preemption::None;
  /// Interval at which orders that drift are evaluated between events.
  base::TimeNs interval_ns = 0;
  base::TimeNs round_ns = 0;  ///< decisions are made at multiples of it only; 0: at events
  /// Time for which a relaunched job keeps its GPUs whatever the order says; 0 = none. Set if the
  /// restart cost would consume every interval between two decisions.
  base::TimeNs hold_ns = 0;
  /// Uninterrupted waiting time after which a job precedes all others from then on; 0 = never.
  base::TimeNs starvation_ns = 0;
  /// A promised start that is missed by so much is kept by preempting; 0 = it is not.
  base::TimeNs late_bound_ns = 0;
  bool needs_estimates = false;  ///< Part::needs_estimates of the selection
  PreemptionPrice price{};
  /// Some part reads JobState::forecast. Estimates then rest on limits and forecasts, never on true
  /// work.
  bool uses_forecasts = false;
  bool fungible = true;  ///< Part::fungible of the placement
  /// Sticky: jobs evicted for a job that still does not fit stay evicted (PAL's artifact).
  bool evict_in_vain = false;
  /// Decisions list every released job as terminated, even if it got its GPUs back (PAL's
  /// artifact).
  bool list_released = false;

  /// Decides about the jobs and nodes of a part of the cluster instead (Composition::of_part).
  std::unique_ptr<PolicySet> of_part{};
  model::ReservationId part{};
  /// Who decides about the jobs of this reservation, or of none.
  [[nodiscard]] const PolicySet& of(model::ReservationId whose) const {
    return of_part && whose == part ? *of_part : *this;
  }
};

}  // namespace goban::core::policy
