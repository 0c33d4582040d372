// Fair Tree, the fair-share algorithm of Slurm since 19.05: siblings are ranked by shares over
// usage, level by level from the root, so that an account which is owed comes before all users of
// one which is not.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace goban::core::policy {

/// One account or user. Node 0 is the root.
struct FairNode {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t parent = kNone;       ///< before the node in the list; kNone: the root
  uint32_t association = kNone;  ///< of a user; kNone: an account
  double shares = 1;             ///< > 0
  double usage = 0;              ///< decayed GPU-seconds, those below an account included
};

/// The fair-share factor by association: rank / number of users, 1 for the first. Users that
/// nothing tells apart get the same rank; sub-accounts of accounts that are tied are ranked
/// together. Associations without a node get 1. Cost: n log n.
[[nodiscard]] std::vector<double> fair_tree(std::span<const FairNode> nodes,
                                            size_t num_associations);

}  // namespace goban::core::policy
