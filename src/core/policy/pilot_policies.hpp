// Which policies can take turns on a site that runs: those of a pilot (docs/pilot.md).
#pragma once

#include "core/policy/compose.hpp"

namespace goban::core::policy {

/// Jobs keep what they hold when the policy changes, so both policies must hold GPUs alike. Errors:
/// BadData naming `field` if the policy is for simulations only, shares GPUs, moves jobs or lets
/// nodes sleep. Without knowledge of the site, parts that use it are left out.
[[nodiscard]] base::Status check_pilot_policy(const char* field, const Composition& policy);

/// Both consist of the same parts, whatever they are called. Site rules and options are not
/// compared.
[[nodiscard]] bool decide_alike(const Composition& a, const Composition& b);

}  // namespace goban::core::policy
