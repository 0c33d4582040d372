// Spearman's rho of node count and run time: for the paper's sample of equally many jobs from each
// bin of Table 2, and for all multi-node jobs, because equal bins overweight the few large jobs.
#include <algorithm>

#include "base/statistics/rank_correlation.hpp"
#include "base/statistics/sampling.hpp"
#include "site/analysis/statistics.hpp"

namespace goban::site::analysis {
namespace {

constexpr std::string_view kSizeWalltimeSection = "walltime";
constexpr std::string_view kId = "spearman";

/// Pairs of size and run time.
struct Pairs {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<uint32_t> bins;

  void add(const Context& context, const Job& job) {
    const auto bin = static_cast<uint32_t>(context.population.site.bin_of(job.nodes));
    x.push_back(context.rules.spearman.by_bin_index ? bin : job.nodes);
    y.push_back(job.run_h());
    bins.push_back(bin);
  }
};

struct Drawn {
  Pairs pairs;
  std::string short_bins;  ///< bins with fewer jobs than requested
};

Drawn draw(const Pairs& all, const Context& context) {
  const SpearmanRules& rules = context.rules.spearman;
  Drawn drawn;
  for (const base::statistics::StratumDraw& bin : base::statistics::stratified_sample(
           all.bins, static_cast<size_t>(rules.per_bin), rules.seed)) {
    if (bin.chosen.size() < static_cast<size_t>(rules.per_bin)) {
      if (!drawn.short_bins.empty()) drawn.short_bins += ", ";
      drawn.short_bins +=
          fmt::format("{}: {}", context.population.site.bin_name(bin.stratum), bin.chosen.size());
    }
    for (const size_t i : bin.chosen) {
      drawn.pairs.x.push_back(all.x[i]);
      drawn.pairs.y.push_back(all.y[i]);
      drawn.pairs.bins.push_back(all.bins[i]);
    }
  }
  return drawn;
}

std::optional<base::statistics::Correlation> interval(const Pairs& pairs, const Context& context,
                                                      bool stratified) {
  // A bootstrap with ten thousand pairs per replicate would take seconds and add little.
  constexpr size_t kPairsFull = 2'000;
  constexpr size_t kReplicatesMany = 200;
  base::statistics::BootstrapOptions options;
  options.seed = context.rules.spearman.seed;
  options.replicates = static_cast<size_t>(context.rules.spearman.replicates);
  if (pairs.x.size() > kPairsFull)
    options.replicates = std::min(options.replicates, kReplicatesMany);
  if (stratified) options.strata = pairs.bins;
  return base::statistics::spearman_interval(pairs.x, pairs.y, options);
}

std::vector<Cell> row(const std::string& name,
                      const std::optional<base::statistics::Correlation>& found, size_t pairs,
                      const std::string& note) {
  if (!found) return {name, static_cast<int64_t>(pairs), Cell(), Cell(), Cell(), note};
  return {name, static_cast<int64_t>(pairs), found->rho, found->low, found->high, note};
}

}  // namespace

void add_size_walltime(const Context& context) {
  const Population& population = context.population;
  Pairs whole;
  Pairs multi;
  for (const Job& job : population.jobs) {
    if (!job.selected || !population.whole_node(job)) continue;
    whole.add(context, job);
    if (job.nodes > 1) multi.add(context, job);
  }
  const Drawn drawn = draw(whole, context);
  const auto sampled = interval(drawn.pairs, context, true);
  if (!sampled) {
    add_absent(context, kId, kSizeWalltimeSection, "Section 4.2", "reason.no_sizes");
    return;
  }
  Table table = make_table(context, kId, kSizeWalltimeSection, "Section 4.2");
  table.columns = columns(context, {"sample", "jobs", "rho", "low", "high", "note"});
  const std::string few = drawn.short_bins.empty()
                              ? std::string()
                              : context.labels.with("word.short_bins", drawn.short_bins);
  table.rows.push_back(row(context.labels("word.stratified"), sampled, drawn.pairs.x.size(), few));
  const auto all_multi = interval(multi, context, false);
  table.rows.push_back(row(context.labels("word.all_multi_node"), all_multi, multi.x.size(), ""));
  table.quality = {static_cast<int64_t>(drawn.pairs.x.size()), static_cast<int64_t>(whole.x.size()),
                   few};
  add_scalar(context, "spearman_sample", kSizeWalltimeSection, table.quality, sampled->rho, {},
             "-0.386");
  const auto multis = static_cast<int64_t>(multi.x.size());
  if (all_multi) {
    add_scalar(context, "spearman_multi_node", kSizeWalltimeSection, {multis, multis, {}},
               all_multi->rho);
  }
  context.report.tables.push_back(std::move(table));
  Figure figure =
      make_figure(context, FigureKind::Scatter, kId, kSizeWalltimeSection, "Section 4.2");
  figure.x = axis(context, "nodes", {}, true);
  figure.y = axis(context, "walltime", "h", true);
  figure.series.push_back({.key = "sample",
                           .label = context.labels("word.stratified"),
                           .x = drawn.pairs.x,
                           .y = drawn.pairs.y});
  figure.quality = context.report.tables.back().quality;
  context.report.figures.push_back(std::move(figure));
}

}  // namespace goban::site::analysis
