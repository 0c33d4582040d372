#include "site/analysis/build.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/statistics/ecdf.hpp"

namespace goban::site::analysis {
namespace {

std::string joined(std::string_view before, std::string_view key) {
  return std::string(before).append(key);
}

/// The label, or an empty text if the catalogue has none.
std::string optional_label(const Context& context, const std::string& key) {
  std::string text = context.labels(key);
  return text == key ? std::string() : text;
}

/// A unit as the suffix of a key.
std::string_view suffix_of(std::string_view unit) {
  struct Suffix {
    std::string_view unit, suffix;
  };
  // Amounts of GPU-hours and the like have the unit in their names.
  constexpr std::array<Suffix, 5> kSuffixes = {
      {{"%", "_pct"}, {"h", "_h"}, {"s", "_s"}, {"GiB", "_gib"}, {"points", "_points"}}};
  const auto* const found = std::ranges::find(kSuffixes, unit, &Suffix::unit);
  return found == kSuffixes.end() ? std::string_view() : found->suffix;
}

/// Which jobs a table or figure counts. The tables that are not listed count the analysed jobs.
std::string counted(const Context& context, std::string_view id) {
  constexpr std::array<std::string_view, 12> kOfAll = {"table1_resource_types",
                                                       "waits",
                                                       "waits_by_partition",
                                                       "wait_distribution",
                                                       "gpus_held",
                                                       "arrivals",
                                                       "outcomes",
                                                       "failures_by_kind",
                                                       "exit_codes",
                                                       "cpu_jobs",
                                                       "charges",
                                                       "sizing"};
  constexpr std::array<std::string_view, 3> kOfBoth = {"users", "accounts", "gpu_counts"};
  if (id.starts_with("funnel")) return {};
  if (std::ranges::find(kOfAll, id) != kOfAll.end()) return context.labels("counts.ran");
  if (std::ranges::find(kOfBoth, id) != kOfBoth.end()) return context.labels("counts.both");
  return context.labels("counts.analysed");
}

std::string counted_text(const std::string& counts, const std::string& text) {
  if (counts.empty() || text.empty()) return counts.empty() ? text : counts + ".";
  return counts + ". " + text;
}

std::string name_of(const Context& context, const records::InternedColumn& names, uint32_t number,
                    std::string_view what) {
  if (number == records::kNoName) return "-";
  if (!context.rules.hide_users) return std::string(names[number]);
  return fmt::format("{}{}", what, number + 1);
}

}  // namespace

std::string_view name(FigureKind kind) {
  constexpr std::array<std::string_view, 7> kNames = {"bar",     "stacked-bar", "line",   "step",
                                                      "scatter", "box",         "heatmap"};
  return kNames[static_cast<size_t>(kind)];
}

Table make_table(const Context& context, std::string_view id, std::string_view section,
                 std::string_view paper) {
  Table table;
  table.id = id;
  table.section = section;
  table.title = context.labels(joined("title.", id));
  table.paper = paper;
  table.counts = counted(context, id);
  table.text = counted_text(table.counts, optional_label(context, joined("text.", id)));
  return table;
}

Column column(const Context& context, std::string_view key, std::string_view unit) {
  return {joined(key, suffix_of(unit)), context.labels(joined("column.", key)), std::string(unit)};
}

std::vector<Column> columns(const Context& context, std::initializer_list<std::string_view> keys) {
  std::vector<Column> all;
  for (const std::string_view key : keys) all.push_back(column(context, key));
  return all;
}

Figure make_figure(const Context& context, FigureKind kind, std::string_view id,
                   std::string_view section, std::string_view paper) {
  Figure figure;
  figure.id = id;
  figure.section = section;
  figure.title = context.labels(joined("title.", id));
  figure.paper = paper;
  figure.text = counted_text(counted(context, id), optional_label(context, joined("text.", id)));
  figure.kind = kind;
  return figure;
}

Axis axis(const Context& context, std::string_view key, std::string_view unit, bool log) {
  return {std::string(key), context.labels(joined("axis.", key)), std::string(unit), log};
}

void add_scalar(const Context& context, std::string_view key, std::string_view section,
                Quality quality, Cell value, std::string_view unit, std::string_view paper) {
  context.report.scalars.push_back(
      {std::string(key), std::string(section), context.labels(joined("scalar.", key)),
       std::move(value), std::string(unit), std::string(paper),
       optional_label(context, joined("text.", key)), std::move(quality)});
}

void add_absent(const Context& context, std::string_view id, std::string_view section,
                std::string_view paper, std::string_view reason) {
  context.report.absent.push_back({std::string(id), std::string(section),
                                   context.labels(joined("title.", id)), std::string(paper),
                                   context.labels(reason)});
}

Cell percent(double part, double whole) {
  if (whole == 0) return {};
  return 100 * part / whole;
}

Series distribution(std::string_view key, std::string_view label, std::span<const double> values) {
  Series series{.key = std::string(key), .label = std::string(label)};
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const size_t count = sorted.size();
  constexpr size_t kSteps = 400;
  double last = -1;
  for (size_t step = 0; step <= kSteps && count > 0; ++step) {
    const double value = sorted[std::min(count - 1, step * count / kSteps)];
    if (!series.x.empty() && value == last) continue;
    last = value;
    const auto at_most = std::ranges::upper_bound(sorted, value) - sorted.begin();
    series.x.push_back(value);
    series.y.push_back(100 * static_cast<double>(at_most) / static_cast<double>(count));
  }
  return series;
}

Box box_of(std::vector<double> values) {
  Box box;
  if (values.empty()) return box;
  std::ranges::sort(values);
  box.count = static_cast<int64_t>(values.size());
  box.mean = base::statistics::mean(values).value_or(0);
  box.q1 = base::statistics::quantile(values, 0.25).value_or(0);
  box.median = base::statistics::quantile(values, 0.5).value_or(0);
  box.q3 = base::statistics::quantile(values, 0.75).value_or(0);
  constexpr double kWhisker = 1.5;
  const double reach = kWhisker * (box.q3 - box.q1);
  const auto first = std::ranges::lower_bound(values, box.q1 - reach);
  const auto last = std::ranges::upper_bound(values, box.q3 + reach);
  box.low = *first;
  box.high = *(last - 1);
  std::vector<double> outliers(values.begin(), first);
  outliers.insert(outliers.end(), last, values.end());
  std::ranges::stable_sort(outliers, std::ranges::greater{},
                           [&box](double value) { return std::abs(value - box.median); });
  if (outliers.size() > Box::kOutliersMost) outliers.resize(Box::kOutliersMost);
  std::ranges::sort(outliers);
  box.outliers = std::move(outliers);
  return box;
}

JobClasses::JobClasses(const SiteShape& site) : site_(site) {
  for (const JobKindInfo& kind : site.kinds) {
    first_.push_back(classes_.size());
    whole_.push_back(kind.whole_node);
    const size_t bins = kind.whole_node ? site.node_bins.size() : 1;
    for (size_t bin = 0; bin < bins; ++bin) {
      classes_.push_back({kind.name, kind.whole_node ? site.bin_name(bin) : std::string()});
    }
  }
}

std::string user_name(const Context& context, uint32_t user) {
  return name_of(context, context.population.table->users(), user, "user-");
}

std::string account_name(const Context& context, uint32_t account) {
  return name_of(context, context.population.table->accounts(), account, "account-");
}

}  // namespace goban::site::analysis
