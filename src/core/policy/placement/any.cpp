// Any: the lowest free GPU ids, regardless of nodes (a cluster of interchangeable GPUs).
#include "core/policy/part.hpp"
#include "core/policy/placement/placement.hpp"

namespace goban::core::policy {
namespace {

class Any final : public Placement {
 public:
  bool place(const PlacementView& view, const PlacementRequest& request,
             model::Allocation& out) const override {
    const model::FreeGpus& free = *view.free;
    if (static_cast<int64_t>(request.num_gpus) > free.total()) return false;
    if (request.one_node) {
      const auto& nodes = free.by_node();
      if (request.num_gpus > nodes.count_max()) return false;
      uint32_t best = model::DomainSet::kNone;
      for (uint32_t count = request.num_gpus; count <= nodes.count_max(); ++count) {
        best = std::min(best, nodes.with(count).first());
      }
      if (best == model::DomainSet::kNone) return false;
      free.append_lowest(NodeId(best), request.num_gpus, out.gpus);
      return true;
    }
    uint32_t gpu = 0;
    for (uint32_t i = 0; i < request.num_gpus; ++i, ++gpu) {
      gpu = free.first_from(gpu);
      out.gpus.emplace_back(gpu);
    }
    return true;
  }
};

}  // namespace

extern const Part kAny = {.kind = PartKind::Placement,
                          .name = "any",
                          .description = "lowest free GPU ids, regardless of nodes",
                          .install = put<&PolicySet::placement, Any>};

}  // namespace goban::core::policy
