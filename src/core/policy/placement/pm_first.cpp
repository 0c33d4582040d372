// PM-First: the GPUs with the best PM scores for the job's class, regardless of locality (PAL:
// PM-First and PAL placement, docs/papers.md).
#include "core/policy/part.hpp"
#include "core/policy/placement/bin_pick.hpp"
#include "core/policy/placement/placement.hpp"

namespace goban::core::policy {

using model::DomainSet;

bool place_pm_first(const PlacementView& view, const PlacementRequest& request,
                    model::Allocation& out) {
  const knowledge::BinCounts& counts = view.bins_of(request.job->app_class);
  const model::Cluster& cluster = counts.cluster();
  const auto wanted = static_cast<int32_t>(request.num_gpus);
  const auto& values = counts.scores().bin_values;
  const size_t last = counts.num_bins() - 1;
  if (request.one_node) {
    for (size_t bin = 0; bin <= last; ++bin) {
      const uint32_t node = counts.fullest_domain(bin, cluster.node_level(), wanted);
      if (node == DomainSet::kNone) continue;
      pick_pm_first(counts, *view.free, request.num_gpus, bin, {node, node + 1}, out.gpus);
      out.reason = {static_cast<uint8_t>(cluster.node_level()), values[bin], values[bin]};
      return true;
    }
    return false;
  }
  if (counts.eligible_total(last) < wanted) return false;
  pick_pm_first(counts, *view.free, request.num_gpus, last,
                {0, static_cast<uint32_t>(cluster.nodes().size())}, out.gpus);
  size_t worst = 0;
  for (const GpuId gpu : out.gpus) {
    worst = std::max<size_t>(worst, counts.scores().bin[gpu.index()]);
  }
  const auto level = static_cast<uint8_t>(cluster.levels().size() - 1);
  out.reason = {level, values[worst], values[worst]};
  return true;
}

namespace {

class PmFirst final : public Placement {
 public:
  bool place(const PlacementView& view, const PlacementRequest& request,
             model::Allocation& out) const override {
    return place_pm_first(view, request, out);
  }
  bool uses_bins() const override { return true; }
  bool class_first() const override { return true; }
};

}  // namespace

extern const Part kPmFirst = {.kind = PartKind::Placement,
                              .name = "pm-first",
                              .description = "GPUs with the best PM scores for the job's class",
                              .install = put<&PolicySet::placement, PmFirst>};

}  // namespace goban::core::policy
