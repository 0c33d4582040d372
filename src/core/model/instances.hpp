// How many instances of a resource type fit.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/model/cluster.hpp"

namespace goban::core::model {

/// Instances of `type` that these GPUs and host resources hold, at most `most`. What an instance
/// does not request does not limit them.
[[nodiscard]] inline int64_t instances_in(int64_t num_gpus, const HostResources& host,
                                          const ResourceType& type, int64_t most) {
  const auto limit = [&most](int64_t has, int64_t asks) {
    if (asks > 0) most = std::min(most, has / asks);
  };
  limit(num_gpus, type.gpus);
  limit(host.cores, type.host.cores);
  limit(host.mem_bytes, type.host.mem_bytes);
  limit(host.ssd_bytes, type.host.ssd_bytes);
  return most;
}

}  // namespace goban::core::model
