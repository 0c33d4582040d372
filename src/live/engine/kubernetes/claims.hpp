// What is written to a ResourceClaim: which devices it gets, for which pod. Pure, but for the two
// functions that send it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "live/engine/kubernetes/api.hpp"
#include "live/engine/kubernetes/devices.hpp"

namespace goban::live::engine::kubernetes {

/// A claim and the devices that it is to get, for one pod that is to be bound.
struct Grant {
  std::string api{};  ///< path of group and version
  Claim claim{};      ///< as it was seen
  std::vector<DeviceResult> results{};
  std::string node{};
  std::string config{};  ///< of class and claim, for the driver: a JSON array
  Meta pod{};
};

[[nodiscard]] std::string claim_path(const std::string& api, const Meta& meta,
                                     std::string_view below = "");
/// Merge patch of the claim: it stays while it is allocated, and its controller takes the
/// allocation back when its pod has ended.
[[nodiscard]] std::string finalizer_body(const Claim& claim);
/// PUT of the status: allocated to the pod, in place of nothing.
[[nodiscard]] std::string allocation_body(const Grant& grant, const std::string& version);
/// PUT of the status: allocated to nobody.
[[nodiscard]] std::string release_body(const std::string& api, const Meta& meta);
/// Whether the claim has exactly this, for this pod alone.
[[nodiscard]] bool is_granted(const Claim& claim, const Grant& grant);

/// Before each write: false ends the attempt.
using MayWrite = std::function<bool()>;

/// Allocates the claim. A write of unknown outcome is looked up. An allocation of a start that
/// failed is replaced; one that another pod uses is not.
[[nodiscard]] ApiAnswer grant_claim(Api& api, const Grant& grant, const MayWrite& may_write);

}  // namespace goban::live::engine::kubernetes
