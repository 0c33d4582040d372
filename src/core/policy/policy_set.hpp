// What the core runs: one part of each kind, made for a run.
#pragma once

#include <memory>
#include <string>

#include "base/time.hpp"
#include "core/model/site_rules.hpp"
#include "core/policy/preemption/preemption.hpp"

namespace goban::core::policy {

class QueueOrder;
class Select;
class Placement;
class Sharing;
class Power;
class Migration;

/// Made by Composition::make (compose.hpp).
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
  Preemption preemption = Preemption::None;
  /// Orders that drift are looked at again after so long without an event.
  base::TimeNs interval_ns = 0;
  /// A job that waited so long in a row goes before all others from then on; 0 = never.
  base::TimeNs starvation_ns = 0;
  bool needs_estimates = false;  ///< Part::needs_estimates of the selection
  bool fungible = true;          ///< Part::fungible of the placement
  /// Sticky: jobs evicted for one that then still does not fit stay evicted (PAL's artifact).
  bool evict_in_vain = false;
  /// Decisions list every released job as terminated, even one that got its GPUs back (artifact).
  bool list_released = false;
};

}  // namespace goban::core::policy
