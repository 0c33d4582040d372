// PAL: variability and locality combined. Tries the entries (bin value x locality penalty) of the
// L x V matrix by ascending product and takes the first that fits the job (PAL: PM-First and PAL
// placement, docs/papers.md). The paper has two levels (within and across nodes); here every
// topology level is a row.
#include <algorithm>

#include "core/policy/part.hpp"
#include "core/policy/placement/bin_pick.hpp"
#include "core/policy/placement/pal_entries.hpp"
#include "core/policy/placement/placement.hpp"

namespace goban::core::policy {
namespace {

using knowledge::BinCounts;
using model::DomainSet;

class Pal final : public Placement {
 public:
  explicit Pal(PalOptions options) : options_(options) {}

  bool place(const PlacementView& view, const PlacementRequest& request,
             model::Allocation& out) const override {
    const BinCounts& counts = view.bins_of(request.job->app_class);
    const model::Cluster& cluster = counts.cluster();
    const auto wanted = static_cast<int32_t>(request.num_gpus);
    if (counts.eligible_total(counts.num_bins() - 1) < wanted) return false;
    const bool larger_than_node = request.num_gpus > cluster.node_gpus_max();
    if (request.num_gpus == 1 || (options_.two_levels && larger_than_node)) {
      return place_pm_first(view, request, out);
    }

    const std::vector<size_t> levels = pal_levels(cluster, request.one_node, options_);
    std::vector<double> penalties;
    for (const size_t level : levels) {
      penalties.push_back(view.speed->penalties->at(level, *request.job));
    }
    PalTraversal traversal(counts.scores(), levels, penalties);
    for (PalTraversal::Entry entry; traversal.next(entry);) {
      const uint32_t domain = counts.fullest_domain(entry.bin, entry.level, wanted);
      if (domain == DomainSet::kNone) continue;
      take(view, counts, request.num_gpus, entry, domain, out);
      out.reason = {static_cast<uint8_t>(entry.level), counts.scores().bin_values[entry.bin],
                    entry.product};
      return true;
    }
    return false;
  }

  bool uses_bins() const override { return true; }
  bool class_first() const override { return true; }

 private:
  static void take(const PlacementView& view, const BinCounts& counts, uint32_t count,
                   const PalTraversal::Entry& entry, uint32_t domain, model::Allocation& out) {
    const model::Cluster& cluster = counts.cluster();
    const std::vector<uint32_t>& first_gpu = cluster.levels()[entry.level].first_gpu;
    const uint32_t first = first_gpu[domain];
    const uint32_t end = first_gpu[domain + 1];
    if (entry.level <= cluster.node_level()) {
      pick_lowest(counts, *view.free, count, entry.bin, first, end, out.gpus);
    } else {
      const NodeRange nodes{cluster.node_of(GpuId(first)).value,
                            cluster.node_of(GpuId(end - 1)).value + 1};
      pick_pm_first(counts, *view.free, count, entry.bin, nodes, out.gpus);
    }
  }

  PalOptions options_;
};

template <bool kTwoLevels>
void put_pal(PolicySet& set, const RunContext& /*run*/, const PolicyOptions& /*options*/) {
  set.placement = std::make_unique<Pal>(PalOptions{.two_levels = kTwoLevels});
}

}  // namespace

extern const Part kPal = {.kind = PartKind::Placement,
                          .name = "pal",
                          .description = "lowest PM score x locality penalty, over all levels",
                          .install = put_pal<false>};

extern const Part kPalPaper = {
    .kind = PartKind::Placement,
    .name = "pal-paper",
    .description = "PAL with the paper's two levels, within and across nodes",
    .install = put_pal<true>};

std::optional<PalOptions> pal_options(const Part& placement) {
  if (&placement == &kPal) return PalOptions{};
  if (&placement == &kPalPaper) return PalOptions{.two_levels = true};
  return {};
}

}  // namespace goban::core::policy
