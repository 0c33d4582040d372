// Resources that were given away elsewhere: a job that somebody else started holds them.
#pragma once

#include <vector>

#include "base/time.hpp"
#include "core/model/cluster.hpp"

namespace goban::core::model {

/// Host resources of one node.
struct HostPart {
  NodeId node{};
  HostResources host{};
  friend bool operator==(const HostPart&, const HostPart&) = default;
};

/// What such a job holds until it ends. Several may hold the same GPU.
struct FoundAllocation {
  std::vector<GpuId> gpus{};
  std::vector<HostPart> hosts{};
  base::TimeNs until_ns = base::kNever;  ///< expected end; kNever = unknown
  friend bool operator==(const FoundAllocation&, const FoundAllocation&) = default;
};

}  // namespace goban::core::model
