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
/// or one value, and none of values that are computed long after each other. A value whose sum is
/// needed by the step after it is in no bucket. With `only`, buckets have these values alone, also
/// those that are needed at once. Sums that are formed for each micro-batch are not in buckets.
[[nodiscard]] std::vector<Bucket> buckets_of(const Graph& graph, const Plan& plan,
                                             int64_t bucket_bytes,
                                             const std::vector<NodeId>& only = {});

/// For each step of the plan, and once more for its end: the values of buckets whose sums it waits
/// for. Each value is in one list: that of the first step that uses its sum.
[[nodiscard]] std::vector<std::vector<NodeId>> awaited_at(const Graph& graph, const Plan& plan,
                                                          const std::vector<Bucket>& buckets);

}  // namespace goban::train::mesh
