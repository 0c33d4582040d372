// Spread: one GPU at a time from the node with the most free GPUs.
#include <algorithm>
#include <queue>

#include "core/policy/part.hpp"
#include "core/policy/placement/placement.hpp"

namespace goban::core::policy {
namespace {

using model::CountBuckets;
using model::DomainSet;

class Spread final : public Placement {
 public:
  bool place(const PlacementView& view, const PlacementRequest& request,
             model::Allocation& out) const override {
    const model::FreeGpus& free = *view.free;
    const CountBuckets& nodes = free.by_node();
    uint32_t missing = request.num_gpus;
    if (static_cast<int64_t>(missing) > free.total()) return false;
    if (request.one_node) {
      const uint32_t node = missing > nodes.count_max() ? DomainSet::kNone : nodes.fullest(missing);
      if (node == DomainSet::kNone) return false;
      free.append_lowest(NodeId(node), missing, out.gpus);
      return true;
    }
    // By level: take one GPU from each node with at least `level` free GPUs, lowest node first.
    // This is equivalent to always taking from the lowest of the nodes with the most free GPUs.
    std::vector<std::pair<uint32_t, uint32_t>> share;  // node, GPUs taken from it
    for (uint32_t level = nodes.count_max(); missing > 0; --level) {
      const auto before = static_cast<std::ptrdiff_t>(share.size());
      for (uint32_t node = nodes.with(level).first(); node != DomainSet::kNone;
           node = nodes.with(level).first_from(node + 1)) {
        share.emplace_back(node, 0);
      }
      std::inplace_merge(share.begin(), share.begin() + before, share.end());
      for (auto& [node, taken] : share) {
        if (missing == 0) break;
        ++taken;
        --missing;
      }
    }
    for (const auto& [node, taken] : share) free.append_lowest(NodeId(node), taken, out.gpus);
    return true;
  }
};

}  // namespace

extern const Part kSpread = {
    .kind = PartKind::Placement,
    .name = "spread",
    .description = "one GPU at a time from the node with the most free GPUs",
    .install = put<&PolicySet::placement, Spread>};

}  // namespace goban::core::policy
