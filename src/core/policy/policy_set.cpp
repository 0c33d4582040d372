#include "core/policy/policy_set.hpp"

#include "core/policy/migration/migration.hpp"
#include "core/policy/order/queue_order.hpp"
#include "core/policy/placement/placement.hpp"
#include "core/policy/power/power.hpp"
#include "core/policy/select/select.hpp"
#include "core/policy/sharing/sharing.hpp"
#include "core/policy/size/size.hpp"

namespace goban::core::policy {

PolicySet::PolicySet() = default;
PolicySet::PolicySet(PolicySet&&) noexcept = default;
PolicySet& PolicySet::operator=(PolicySet&&) noexcept = default;
PolicySet::~PolicySet() = default;

}  // namespace goban::core::policy
