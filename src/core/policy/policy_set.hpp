// A scheduling policy: six small policies and how they are put together.
#pragma once

#include <memory>
#include <string>

#include "core/policy/migration/migration.hpp"
#include "core/policy/order/queue_order.hpp"
#include "core/policy/placement/placement.hpp"
#include "core/policy/power/power.hpp"
#include "core/policy/select/select.hpp"
#include "core/policy/sharing/sharing.hpp"

namespace goban::core::policy {

/// What the core runs. Made by policy/compose.hpp.
struct PolicySet {
  std::string name;
  std::shared_ptr<const model::SiteRules> rules = std::make_shared<model::SiteRules>();
  std::unique_ptr<QueueOrder> order;
  std::unique_ptr<Select> select;
  std::unique_ptr<Placement> placement;
  std::unique_ptr<Sharing> sharing;
  std::unique_ptr<Power> power;
  std::unique_ptr<Migration> migration = make_stay();
  Preemption preemption = Preemption::None;
  /// Orders that drift are looked at again after so long without an event.
  TimeNs interval_ns = 0;
  /// A job that waited so long in a row goes before all others from then on; 0 = never.
  TimeNs starvation_ns = 0;
  /// Sticky: jobs evicted for one that then still does not fit stay evicted (PAL's artifact).
  bool evict_in_vain = false;
  /// Decisions list every released job as terminated, even one that got its GPUs back (artifact).
  bool list_released = false;
};

}  // namespace goban::core::policy
