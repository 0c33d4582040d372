// PAL: variability and locality together. Traverses the entries (bin value x locality penalty) of
// the L x V matrix by ascending product and takes the first that can serve the job (spec pal, 5).
// The paper has two levels (within and across nodes); here every topology level is a row.
#include <algorithm>

#include "policy/placement/bin_pick.hpp"
#include "policy/placement/placement.hpp"

namespace goban::policy {
namespace {

using model::DomainSet;
using profile::BinCounts;

/// Walks the matrix in ascending product; ties keep bins in order of appearance by GPU id, and
/// inner levels before outer ones. Each level's row ascends with its bins, so this is a merge.
class Traversal {
 public:
  struct Entry {
    size_t bin;
    size_t level;
    double product;
  };

  Traversal(const profile::ClassScores& scores, const std::vector<size_t>& levels,
            const std::vector<double>& penalties)
      : scores_(scores), levels_(levels), penalties_(penalties), next_bin_(levels.size(), 0) {}

  bool next(Entry& entry) {
    size_t best = levels_.size();
    double product = 0;
    for (size_t row = 0; row < levels_.size(); ++row) {
      if (next_bin_[row] == scores_.bin_values.size()) continue;
      const double candidate = scores_.bin_values[next_bin_[row]] * penalties_[row];
      if (best == levels_.size() || candidate < product ||
          (candidate == product && appears_before(next_bin_[row], next_bin_[best]))) {
        best = row;
        product = candidate;
      }
    }
    if (best == levels_.size()) return false;
    entry = {next_bin_[best]++, levels_[best], product};
    return true;
  }

 private:
  [[nodiscard]] bool appears_before(size_t a, size_t b) const {
    if (a == b) return false;
    for (const uint8_t bin : scores_.bins_by_appearance) {
      if (bin == a) return true;
      if (bin == b) return false;
    }
    return false;
  }

  const profile::ClassScores& scores_;
  const std::vector<size_t>& levels_;
  const std::vector<double>& penalties_;
  std::vector<size_t> next_bin_;
};

class Pal final : public Placement {
 public:
  explicit Pal(PalOptions options) : options_(options), pm_first_(make_pm_first()) {}

  bool place(const PlacementView& view, const PlacementRequest& request,
             model::Allocation& out) const override {
    const BinCounts& counts = view.bins_of(request.job->app_class);
    const model::Cluster& cluster = counts.cluster();
    const auto wanted = static_cast<int32_t>(request.num_gpus);
    if (counts.eligible_total(counts.num_bins() - 1) < wanted) return false;
    const bool larger_than_node = request.num_gpus > cluster.node_gpus_max();
    if (request.num_gpus == 1 || (options_.artifact_levels && larger_than_node)) {
      return pm_first_->place(view, request, out);
    }

    std::vector<size_t> levels;
    std::vector<double> penalties;
    for (size_t level = 0; level < cluster.levels().size(); ++level) {
      if (!takes_part(cluster, level, request.one_node)) continue;
      levels.push_back(level);
      penalties.push_back(view.speed->penalties->at(level, *request.job));
    }
    Traversal traversal(counts.scores(), levels, penalties);
    for (Traversal::Entry entry{}; traversal.next(entry);) {
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
  [[nodiscard]] bool takes_part(const model::Cluster& cluster, size_t level, bool one_node) const {
    if (level > cluster.node_level()) {
      return !one_node && (!options_.artifact_levels || level + 1 == cluster.levels().size());
    }
    return !options_.artifact_levels || level == cluster.node_level();
  }

  static void take(const PlacementView& view, const BinCounts& counts, uint32_t count,
                   const Traversal::Entry& entry, uint32_t domain, model::Allocation& out) {
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
  std::unique_ptr<Placement> pm_first_;
};

}  // namespace

std::unique_ptr<Placement> make_pal(PalOptions options) { return std::make_unique<Pal>(options); }

}  // namespace goban::policy
