// Consolidated: the minimum number of nodes. A job of at most a node's size waits for one node; a
// larger one takes entirely free nodes and best fit for the remainder (strict site policies).
#include "core/policy/part.hpp"
#include "core/policy/placement/placement.hpp"

namespace goban::core::policy {
namespace {

using model::CountBuckets;
using model::DomainSet;

/// Lowest node with the fewest free GPUs >= least; entirely free nodes below `taken_below` are
/// already taken.
uint32_t tightest_beside(const CountBuckets& nodes, uint32_t least, uint32_t taken_below) {
  for (uint32_t count = least; count <= nodes.count_max(); ++count) {
    const uint32_t from = count == nodes.count_max() ? taken_below : 0;
    if (const uint32_t node = nodes.with(count).first_from(from); node != DomainSet::kNone) {
      return node;
    }
  }
  return DomainSet::kNone;
}

class Consolidated final : public Placement {
 public:
  bool place(const PlacementView& view, const PlacementRequest& request,
             model::Allocation& out) const override {
    const model::FreeGpus& free = *view.free;
    const CountBuckets& nodes = free.by_node();
    const uint32_t size = nodes.count_max();
    if (static_cast<int64_t>(request.num_gpus) > free.total()) return false;
    if (request.one_node && request.num_gpus > size) return false;

    uint32_t next = 0;
    for (uint32_t whole = request.num_gpus / size; whole > 0 && request.num_gpus > size; --whole) {
      const uint32_t node = nodes.with(size).first_from(next);
      if (node == DomainSet::kNone) {
        out.gpus.clear();
        return false;
      }
      free.append_lowest(NodeId(node), size, out.gpus);
      next = node + 1;
    }
    const auto rest = request.num_gpus - static_cast<uint32_t>(out.gpus.size());
    if (rest == 0) return true;
    const uint32_t node = tightest_beside(nodes, rest, next);
    if (node == DomainSet::kNone) {
      out.gpus.clear();
      return false;
    }
    free.append_lowest(NodeId(node), rest, out.gpus);
    return true;
  }
};

}  // namespace

extern const Part kConsolidated = {.kind = PartKind::Placement,
                                   .name = "consolidated",
                                   .description = "minimum number of nodes; waits for them",
                                   .install = put<&PolicySet::placement, Consolidated>,
                                   .fungible = false};

}  // namespace goban::core::policy
