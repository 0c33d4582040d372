// Single parts of policies, for tests.
#pragma once

#include <string_view>

#include "base/check.hpp"
#include "core/policy/knowledge.hpp"
#include "core/policy/migration/migration.hpp"
#include "core/policy/order/queue_order.hpp"
#include "core/policy/part.hpp"
#include "core/policy/placement/placement.hpp"
#include "core/policy/policy_options.hpp"
#include "core/policy/power/power.hpp"
#include "core/policy/select/select.hpp"
#include "core/policy/sharing/sharing.hpp"
#include "core/policy/size/size.hpp"

namespace goban::core::policy {

/// A set that contains only the part of this name.
inline PolicySet test_part(std::string_view name, const PolicyOptions& options = {}) {
  const Part* part = find_part(name);
  GOBAN_CHECK(part != nullptr);
  PolicySet set;
  part->install(set, {}, options);
  return set;
}

}  // namespace goban::core::policy
