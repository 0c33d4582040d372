// PAL where it costs nobody anything. While many GPUs are free and they differ, PAL, but jobs of
// whole nodes leave none in part: what they would gain by spanning nodes, later jobs of whole nodes
// would lose by having to span them, too. Otherwise nodes are what is scarce: the job goes where
// Packed would put it, to a node that it breaks up least, and among such nodes to the one with the
// best PM scores, so that whole nodes are kept for the jobs that need them. This is the
// fragmentation gradient of FGD (Weng et al., ATC'23) for jobs of whole GPUs: of all nodes that
// fit, the one with the fewest free GPUs loses the least.
#include <algorithm>
#include <span>
#include <vector>

#include "core/policy/part.hpp"
#include "core/policy/placement/bin_pick.hpp"
#include "core/policy/placement/placement.hpp"
#include "core/policy/policy_options.hpp"

namespace goban::core::policy {

extern const Part kPal;

namespace {

using knowledge::BinCounts;
using model::CountBuckets;
using model::DomainSet;

/// PAL places alone from this share of free GPUs on.
constexpr double kManyFree = 0.5;
/// Equally used nodes that are compared at most: bounds the cost.
constexpr int kNodesCompared = 32;

/// A node, and the best bin from which it has enough free GPUs.
struct Choice {
  uint32_t node = DomainSet::kNone;
  size_t bin = 0;
};

Choice best_scored(const BinCounts& counts, const DomainSet& nodes, uint32_t wanted) {
  Choice best{.bin = counts.num_bins()};
  uint32_t node = nodes.first();
  for (int i = 0; node != DomainSet::kNone && i < kNodesCompared && best.bin > 0; ++i) {
    for (size_t bin = 0; bin < best.bin; ++bin) {
      if (counts.eligible_on_node(bin, node) >= wanted) best = {node, bin};
    }
    node = nodes.first_from(node + 1);
  }
  return best;
}

class PalTight final : public Placement {
 public:
  PalTight(std::unique_ptr<Placement> pal, const PlacementOptions& options)
      : pal_(std::move(pal)), options_(options) {}

  bool place(const PlacementView& view, const PlacementRequest& request,
             model::Allocation& out) const override {
    const model::FreeGpus& free = *view.free;
    const model::Cluster& cluster = free.cluster();
    const uint32_t wanted = request.num_gpus;
    if (static_cast<int64_t>(wanted) > free.total()) return false;
    const BinCounts& counts = view.bins_of(request.job->app_class);
    // Where all GPUs are equal, PAL has nothing to gain, and may break nodes up.
    const bool differ = counts.num_bins() > 1;
    const bool many = differ && free.total() >= kManyFree * cluster.num_gpus();
    const bool has_racks = cluster.levels().size() > cluster.node_level() + 2;
    const CountBuckets& nodes = free.by_node();
    const uint32_t fullest = nodes.fullest(1);
    const bool on_one_node = fullest != DomainSet::kNone && wanted <= nodes.count(fullest);
    if (has_racks && !on_one_node) return pal_->place(view, request, out);
    if (many) {
      const bool placed = pal_->place(view, request, out);
      if (!placed || !options_.whole_nodes || breaks_up_little(free, wanted, out.gpus)) {
        return placed;
      }
      out = {};
    }
    if (!on_one_node && request.one_node) return false;
    if (on_one_node) {
      take(view, counts, choice_on_one_node(nodes, counts, wanted), wanted, out);
    } else {
      take_several(view, counts, wanted, out);
    }
    explain(counts, out);
    return true;
  }

  bool uses_bins() const override { return true; }
  bool class_first() const override { return true; }

 private:
  /// Of the nodes that are broken up least, the best-scored one; or, without that rule, of all.
  [[nodiscard]] Choice choice_on_one_node(const CountBuckets& nodes, const BinCounts& counts,
                                          uint32_t wanted) const {
    const uint32_t tightest = nodes.count(nodes.tightest(wanted));
    Choice best = best_scored(counts, nodes.with(tightest), wanted);
    if (options_.tight_nodes) return best;
    for (uint32_t count = tightest + 1; count <= nodes.count_max(); ++count) {
      const Choice other = best_scored(counts, nodes.with(count), wanted);
      if (other.node != DomainSet::kNone && other.bin < best.bin) best = other;
    }
    return best;
  }

  /// From the nodes with the most free GPUs, as Packed does.
  static void take_several(const PlacementView& view, const BinCounts& counts, uint32_t missing,
                           model::Allocation& out) {
    const CountBuckets& nodes = view.free->by_node();
    for (uint32_t count = nodes.count_max(); missing > 0 && count > 0; --count) {
      DomainSet left = nodes.with(count);
      while (missing > 0 && left.first() != DomainSet::kNone) {
        const uint32_t part = std::min(count, missing);
        const Choice choice = best_scored(counts, left, part);
        take(view, counts, choice, part, out);
        left.erase(choice.node);
        missing -= part;
      }
    }
  }

  static void take(const PlacementView& view, const BinCounts& counts, Choice choice,
                   uint32_t count, model::Allocation& out) {
    const model::Node& node = counts.cluster().node(NodeId(choice.node));
    pick_lowest(counts, *view.free, count, choice.bin, node.first_gpu, node.end_gpu(), out.gpus);
  }

  static void explain(const BinCounts& counts, model::Allocation& out) {
    size_t worst = 0;
    for (const GpuId gpu : out.gpus) {
      worst = std::max<size_t>(worst, counts.scores().bin[gpu.index()]);
    }
    const double value = counts.scores().bin_values[worst];
    const auto level = static_cast<uint8_t>(counts.cluster().span_level(out.gpus));
    out.reason = {level, value, value};
  }

  /// Jobs of whole nodes leave none in part: others like them could no longer start on it.
  static bool breaks_up_little(const model::FreeGpus& free, uint32_t wanted,
                               std::span<const GpuId> gpus) {
    const model::Cluster& cluster = free.cluster();
    const uint32_t of_node = cluster.node_gpus_max();
    if (wanted < of_node) return true;
    std::vector<NodeId> nodes;
    for (const GpuId gpu : gpus) nodes.push_back(cluster.node_of(gpu));
    std::ranges::sort(nodes);
    uint32_t broken = 0;
    for (auto begin = nodes.begin(); begin != nodes.end();) {
      const auto end = std::upper_bound(begin, nodes.end(), *begin);
      if (end - begin < static_cast<std::ptrdiff_t>(free.on_node(*begin))) ++broken;
      begin = end;
    }
    return broken <= (wanted % of_node == 0 ? 0U : 1U);
  }

  std::unique_ptr<Placement> pal_;
  PlacementOptions options_;
};

void install(PolicySet& set, const RunContext& run, const PolicyOptions& options) {
  kPal.install(set, run, options);
  set.placement = std::make_unique<PalTight>(std::move(set.placement), options.placement);
}

}  // namespace

extern const Part kPalTight = {
    .kind = PartKind::Placement,
    .name = "pal-tight",
    .description = "PAL while many GPUs are free; else as packed, on the best-scored such node",
    .install = install};

}  // namespace goban::core::policy
