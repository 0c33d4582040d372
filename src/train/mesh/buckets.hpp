// Buckets: which sums over devices are formed together, and after which step their values are
// complete.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "train/mesh/plan.hpp"

namespace goban::train::mesh {

/// Values that are reduced by one message while later steps are computed.
struct Bucket {
  std::vector<NodeId> values;  ///< of one type, reduced over the same axes
  AxisSet axes = 0;
  size_t ready_after = 0;  ///< the last step that computes one of them
};

/// The buckets of a plan, in the order in which they become ready. Each has at most `bucket_bytes`,
/// or one value. A value whose sum is needed by the step after it is in no bucket. With `only`,
/// buckets have these values alone, also those that are needed at once. Sums that are formed for
/// each micro-batch are not in buckets.
[[nodiscard]] std::vector<Bucket> buckets_of(const Graph& graph, const Plan& plan,
                                             int64_t bucket_bytes,
                                             const std::vector<NodeId>& only = {});

}  // namespace goban::train::mesh
