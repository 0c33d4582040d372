// Which devices are which GPUs of a node, who holds them, and which are given to a pod that is to
// be bound. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "live/engine/kubernetes/bindings.hpp"
#include "live/engine/kubernetes/gangs.hpp"

namespace goban::live::engine::kubernetes {

/// Sets what annotations, slices and claims say: the GPUs that pods of ours got, the GPUs of nodes
/// for which the driver of the rules publishes slices, and the GPUs that pods with claims need or
/// hold. Called once for a copy of all objects.
void settle_devices(Objects& objects, const Rules& rules);

/// GPUs that a claim holds although no pod uses it.
struct IdleClaim {
  const Claim* claim = nullptr;
  std::vector<NodePart> parts{};
};
[[nodiscard]] std::vector<IdleClaim> idle_claims(const Objects& objects, const Rules& rules);

/// Adds to each binding the claims of its pod with the devices for them. Errors: Failed in words
/// for users, if a claim is not free, or somebody else holds a device.
[[nodiscard]] base::Status grant_devices(std::vector<Binding>& bindings, const Objects& objects,
                                         const Rules& rules);

/// Claims of pods that wait, which were allocated for a start that failed.
[[nodiscard]] std::vector<Claim> left_granted(const Objects& objects, const Rules& rules);

}  // namespace goban::live::engine::kubernetes
