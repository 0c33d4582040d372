// Packed: as few nodes as possible, best fit first (PAL: baselines, docs/papers.md).
#include "core/policy/part.hpp"
#include "core/policy/placement/placement.hpp"

namespace goban::core::policy {
namespace {

using model::CountBuckets;
using model::DomainSet;

class Packed final : public Placement {
 public:
  /// The node with the fewest free GPUs that fits the job; otherwise nodes with the most free GPUs,
  /// one after the other.
  bool place(const PlacementView& view, const PlacementRequest& request,
             model::Allocation& out) const override {
    const model::FreeGpus& free = *view.free;
    const CountBuckets& nodes = free.by_node();
    uint32_t missing = request.num_gpus;
    if (static_cast<int64_t>(missing) > free.total()) return false;
    if (missing <= nodes.count_max()) {
      if (const uint32_t node = nodes.tightest(missing); node != DomainSet::kNone) {
        free.append_lowest(NodeId(node), missing, out.gpus);
        return true;
      }
    }
    if (request.one_node) return false;
    uint32_t node = 0;
    for (uint32_t count = nodes.count_max(); missing > 0;) {
      node = nodes.with(count).first_from(node);
      if (node == DomainSet::kNone) {
        --count;
        node = 0;
        continue;
      }
      const uint32_t taken = count < missing ? count : missing;
      free.append_lowest(NodeId(node), taken, out.gpus);
      missing -= taken;
      ++node;
    }
    return true;
  }
};

}  // namespace

extern const Part kPacked = {.kind = PartKind::Placement,
                             .name = "packed",
                             .description = "as few nodes as possible, best fit first",
                             .install = put<&PolicySet::placement, Packed>};

}  // namespace goban::core::policy
