#include "core/policy/placement/pal_entries.hpp"

namespace goban::core::policy {
namespace {

using model::DomainSet;

/// Largest number of free GPUs of bins 0..bin in one domain of the level, by bisection.
int32_t most_free(const knowledge::BinCounts& counts, size_t bin, size_t level) {
  int32_t low = 0;
  int32_t high = counts.eligible_total(bin);
  while (low < high) {
    const int32_t middle = low + (high - low + 1) / 2;
    if (counts.fullest_domain(bin, level, middle) != DomainSet::kNone) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace

bool PalTraversal::next(Entry& entry) {
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

bool PalTraversal::appears_before(size_t a, size_t b) const {
  if (a == b) return false;
  for (const uint8_t bin : scores_.bins_by_appearance) {
    if (bin == a) return true;
    if (bin == b) return false;
  }
  return false;
}

std::vector<size_t> pal_levels(const model::Cluster& cluster, bool one_node, PalOptions options) {
  std::vector<size_t> levels;
  for (size_t level = 0; level < cluster.levels().size(); ++level) {
    const bool takes_part =
        level > cluster.node_level()
            ? !one_node && (!options.two_levels || level + 1 == cluster.levels().size())
            : !options.two_levels || level == cluster.node_level();
    if (takes_part) levels.push_back(level);
  }
  return levels;
}

std::vector<PalEntry> pal_entries(const PlacementView& view, const PlacementRequest& request,
                                  PalOptions options) {
  const knowledge::BinCounts& counts = view.bins_of(request.job->app_class);
  const std::vector<size_t> levels = pal_levels(counts.cluster(), request.one_node, options);
  std::vector<double> penalties;
  for (const size_t level : levels) {
    penalties.push_back(view.speed->penalties->at(level, *request.job));
  }
  std::vector<PalEntry> entries;
  PalTraversal traversal(counts.scores(), levels, penalties);
  for (PalTraversal::Entry entry; traversal.next(entry);) {
    entries.push_back({.level = entry.level,
                       .bin_value = counts.scores().bin_values[entry.bin],
                       .penalty = view.speed->penalties->at(entry.level, *request.job),
                       .product = entry.product,
                       .free_gpus = most_free(counts, entry.bin, entry.level)});
  }
  return entries;
}

}  // namespace goban::core::policy
