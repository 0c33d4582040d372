// Random: free GPUs drawn with equal probability, from a seed that differs by job and launch.
#include "base/random.hpp"

#include <algorithm>

#include "core/policy/part.hpp"
#include "core/policy/placement/placement.hpp"

namespace goban::core::policy {
namespace {

using model::DomainSet;

class RandomPlacement final : public Placement {
 public:
  /// Draws without replacement. Cost: the free GPUs.
  bool place(const PlacementView& view, const PlacementRequest& request,
             model::Allocation& out) const override {
    const model::FreeGpus& free = *view.free;
    if (static_cast<int64_t>(request.num_gpus) > free.total()) return false;
    base::Random random(request.seed);
    std::vector<GpuId> pool;
    uint32_t begin = 0;
    uint32_t end = free.cluster().num_gpus();
    if (request.one_node) {
      std::vector<uint32_t> nodes;
      for (uint32_t node = 0; node < free.cluster().nodes().size(); ++node) {
        if (free.on_node(NodeId(node)) >= request.num_gpus) nodes.push_back(node);
      }
      if (nodes.empty()) return false;
      const auto& node = free.cluster().node(NodeId(nodes[random.below(nodes.size())]));
      begin = node.first_gpu;
      end = node.end_gpu();
    }
    for (uint32_t gpu = free.first_from(begin); gpu != DomainSet::kNone && gpu < end;
         gpu = free.first_from(gpu + 1)) {
      pool.emplace_back(gpu);
    }
    for (uint32_t i = 0; i < request.num_gpus; ++i) {
      std::swap(pool[i], pool[i + random.below(pool.size() - i)]);
      out.gpus.push_back(pool[i]);
    }
    return true;
  }

  bool repeatable() const override { return false; }
};

}  // namespace

extern const Part kRandom = {.kind = PartKind::Placement,
                             .name = "random",
                             .description = "random free GPUs",
                             .install = put<&PolicySet::placement, RandomPlacement>};

}  // namespace goban::core::policy
