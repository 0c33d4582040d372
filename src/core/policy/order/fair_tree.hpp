// Fair Tree, the fair-share algorithm of Slurm since 19.05: siblings are ranked by shares / usage,
// level by level from the root, so that all users of an account below its share precede all users
// of an account above its share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace goban::core::policy {

/// One account or user. Node 0 is the root.
struct FairNode {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t parent = kNone;       ///< precedes the node in the list; kNone: the root
  uint32_t association = kNone;  ///< of a user; kNone: an account
  double shares = 1;             ///< > 0
  double usage = 0;              ///< decayed GPU-seconds, including those below an account
};

/// The fair-share factor by association: rank / number of users, 1 for the first. Tied users get
/// the same rank; the children of tied accounts are ranked together. Associations without a node
/// get 1. Cost: n log n.
[[nodiscard]] std::vector<double> fair_tree(std::span<const FairNode> nodes,
                                            size_t num_associations);

}  // namespace goban::core::policy
