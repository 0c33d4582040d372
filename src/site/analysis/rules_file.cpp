#include "site/analysis/rules_file.hpp"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "base/config.hpp"
#include "base/date_time.hpp"
#include "base/text_file.hpp"
#include "base/units.hpp"

namespace goban::site::analysis {
namespace {

using base::ConfigProblems;
using base::Result;
using base::TableReader;

constexpr size_t kFileBytesMax = size_t{1} << 20;
constexpr int64_t kCountMax = 1'000'000;
constexpr double kHoursMax = 1e6;

/// An option with a fixed set of values.
template <typename Value, size_t kCount>
Value word(TableReader& table, std::string_view key, Value fallback,
           const std::array<std::pair<std::string_view, Value>, kCount>& words) {
  if (!table.has(key)) {
    table.text(key);
    return fallback;
  }
  const std::string text = table.text(key);
  std::vector<std::string_view> known;
  for (const auto& [name, value] : words) {
    if (name == text) return value;
    known.push_back(name);
  }
  table.refuse(key, fmt::format("unknown value \"{}\"", text),
               fmt::format("known values: {}", fmt::join(known, ", ")));
  return fallback;
}

constexpr std::array<std::pair<std::string_view, Unknowns>, 2> kUnknownWords = {
    {{"keep", Unknowns::Keep}, {"drop", Unknowns::Drop}}};
constexpr std::array<std::pair<std::string_view, bool>, 2> kYesWords = {
    {{"yes", true}, {"no", false}}};
constexpr std::array<std::pair<std::string_view, base::statistics::SigmaRule>, 2> kSigmaWords = {
    {{"n", base::statistics::SigmaRule::Population}, {"n-1", base::statistics::SigmaRule::Sample}}};

int32_t whole(TableReader& table, std::string_view key, int64_t least, int64_t fallback) {
  return static_cast<int32_t>(table.whole(key, least, kCountMax, fallback));
}

bool flag(TableReader& table, std::string_view key) {
  return word<bool, 2>(table, key, false, {{{"yes", true}, {"no", false}}});
}

base::TimeNs moment(TableReader& table, std::string_view key) {
  if (!table.has(key)) {
    table.text(key);
    return -1;
  }
  std::string text = table.text(key);
  constexpr size_t kDateLetters = 10;
  if (text.size() == kDateLetters) text += " 00:00:00";
  const auto parsed = base::parse_date_time(text);
  if (parsed) return parsed->unix_ns;
  table.refuse(key, fmt::format("\"{}\" is not a valid date", text),
               "write 2019-04-05, or 2019-04-05 09:00:00+09:00");
  return -1;
}

void read_period(TableReader& root, Rules& rules) {
  auto table = root.table("period");
  if (!table) return;
  rules.period.from_ns = moment(*table, "from");
  rules.period.to_ns = moment(*table, "to");
  rules.period.by = word<PeriodBy, 3>(
      *table, "by", rules.period.by,
      {{{"submit", PeriodBy::Submit}, {"start", PeriodBy::Start}, {"end", PeriodBy::End}}});
  if (rules.period.to_ns >= 0 && rules.period.to_ns <= rules.period.from_ns) {
    table->refuse("to", "must be after `from`", "`to` is the first time after the period");
  }
  table->finish();
}

void read_exclusions(TableReader& root, Rules& rules) {
  auto table = root.table("exclude");
  if (!table) return;
  rules.exclude = {table->texts("reservations"), table->texts("partitions"), table->texts("users"),
                   table->texts("accounts")};
  table->finish();
}

void read_conditions(TableReader& root, Rules& rules) {
  auto table = root.table("conditions");
  if (!table) return;
  rules.gpu_types = table->texts("gpu_types");
  rules.kind_unknown = word(*table, "kind_unknown", rules.kind_unknown, kUnknownWords);
  rules.software = word<SoftwareEvidence, 5>(*table, "software", rules.software,
                                             {{{"any", SoftwareEvidence::Any},
                                               {"module", SoftwareEvidence::Module},
                                               {"container", SoftwareEvidence::Container},
                                               {"process", SoftwareEvidence::Process},
                                               {"none", SoftwareEvidence::None}}});
  if (table->has("software_names")) {
    rules.software_patterns = table->texts("software_names");
  } else {
    table->texts("software_names");
  }
  rules.software_unknown = word(*table, "software_unknown", rules.software_unknown, kUnknownWords);
  rules.run_min_ns = table->duration("run_min", rules.run_min_ns);
  UseRules& use = rules.use;
  use.source = word<UseSource, 3>(
      *table, "use_source", use.source,
      {{{"auto", UseSource::Auto}, {"series", UseSource::Series}, {"means", UseSource::Means}}});
  use.gpus = word<GpusAsked, 2>(*table, "use_of", use.gpus,
                                {{{"job", GpusAsked::Job}, {"nodes", GpusAsked::Nodes}}});
  use.busy_at_pct = table->number("busy_at", 0, base::kPercentMax, use.busy_at_pct);
  use.trim.sigma = word(*table, "sigma", use.trim.sigma, kSigmaWords);
  use.trim.sigmas = table->number("sigmas", 0, base::kPercentMax, use.trim.sigmas);
  use.trim.tolerance = table->number("tolerance", -1, 1, use.trim.tolerance);
  use.coverage_min = table->number("coverage_min", 0, 1, use.coverage_min);
  use.skip_first = whole(*table, "skip_first", 0, use.skip_first);
  use.skip_last = whole(*table, "skip_last", 0, use.skip_last);
  use.delay_ns = table->duration("delay", use.delay_ns);
  use.include_start = word(*table, "include_start", use.include_start, kYesWords);
  use.include_end = word(*table, "include_end", use.include_end, kYesWords);
  use.unknown = word(*table, "use_unknown", use.unknown, kUnknownWords);
  table->finish();
}

void read_spearman(TableReader& root, Rules& rules) {
  auto table = root.table("spearman");
  if (!table) return;
  SpearmanRules& spearman = rules.spearman;
  spearman.per_bin = whole(*table, "per_bin", 2, spearman.per_bin);
  spearman.seed = static_cast<uint64_t>(
      table->whole("seed", 0, INT64_MAX, static_cast<int64_t>(spearman.seed)));
  spearman.by_bin_index =
      word<bool, 2>(*table, "x", spearman.by_bin_index, {{{"nodes", false}, {"bin", true}}});
  spearman.replicates = whole(*table, "replicates", 0, spearman.replicates);
  table->finish();
}

void read_what_if(TableReader& root, Rules& rules) {
  auto table = root.table("what_if");
  if (!table) return;
  WhatIfRules& what_if = rules.what_if;
  what_if.cap_h = table->number("cap_h", 0.01, kHoursMax, what_if.cap_h);
  what_if.communication_share =
      table->number("communication_share", 0, 1, what_if.communication_share);
  what_if.uplink_ratio_now =
      table->number("uplink_ratio", 1, base::kPercentMax, what_if.uplink_ratio_now);
  if (const auto ratios = table->numbers("uplink_ratios", 1, base::kPercentMax); !ratios.empty()) {
    what_if.uplink_ratios = ratios;
  }
  constexpr double kPointsMax = 1e9;
  for (TableReader& charge : table->tables("charge")) {
    charge.require("kind", "write the name of a kind of job, or a pattern such as \"*\"");
    what_if.charges.push_back({charge.text("kind"), charge.number("now", 0, kPointsMax, 1),
                               charge.number("then", 0, kPointsMax, 1)});
    charge.finish();
  }
  table->finish();
}

void read_top(TableReader& root, Rules& rules) {
  rules.arrays = word<Arrays, 2>(root, "arrays", rules.arrays,
                                 {{{"tasks", Arrays::Tasks}, {"first", Arrays::First}}});
  rules.gpus_per_node = whole(root, "gpus_per_node", 0, 0);
  rules.rack_nodes = whole(root, "rack_nodes", 0, 0);
  for (const double bound : root.numbers("node_bins", 1, kCountMax)) {
    const auto nodes = static_cast<int32_t>(bound);
    if (!rules.node_bins.empty() && nodes <= rules.node_bins.back()) {
      root.refuse("node_bins", "must be ascending", "write upper bounds such as [1, 2, 4, 8]");
      break;
    }
    rules.node_bins.push_back(nodes);
  }
  rules.whole_node_types = root.texts("whole_node_types");
  rules.table_sigma = word(root, "table_sigma", rules.table_sigma, kSigmaWords);
  rules.spread_sigma = word(root, "spread_sigma", rules.spread_sigma, kSigmaWords);
  rules.mean_over =
      word<MeanOver, 2>(root, "mean_over", rules.mean_over,
                        {{{"used", MeanOver::Used}, {"allocated", MeanOver::Allocated}}});
  rules.exceeded = word<Exceeded, 3>(
      root, "exceeded", rules.exceeded,
      {{{"state", Exceeded::State}, {"elapsed", Exceeded::Elapsed}, {"either", Exceeded::Either}}});
  rules.top_holders = root.number("top_holders", 0, 1, rules.top_holders);
  rules.hide_users = flag(root, "hide_users");
  rules.gpu_model = root.text("gpu_model");
  constexpr double kTflopsMax = 1e9;
  std::vector<PeakRule> peaks;
  for (TableReader& peak : root.tables("peak")) {
    peak.require("model", "write the name of a GPU model, or a pattern such as \"*a100*\"");
    peak.require("tflops", "write the peak TFLOPS of one GPU");
    peaks.push_back({peak.text("model"), peak.number("tflops", 0, kTflopsMax, 0)});
    peak.finish();
  }
  rules.peaks.insert(rules.peaks.begin(), peaks.begin(), peaks.end());
}

}  // namespace

Result<Rules> parse_rules(std::string_view toml, const std::string& file) {
  const auto document = base::parse_config(toml, file);
  if (!document) return base::failure(document.error());
  ConfigProblems problems(file);
  TableReader root(*document, "", problems);
  Rules rules;
  read_top(root, rules);
  read_period(root, rules);
  read_exclusions(root, rules);
  read_conditions(root, rules);
  read_spearman(root, rules);
  read_what_if(root, rules);
  root.finish();
  if (auto status = problems.status(); !status) return base::failure(status.error());
  return rules;
}

Result<Rules> read_rules(const std::string& path) {
  const auto text = base::read_text_file(path, kFileBytesMax);
  if (!text) return base::failure(text.error());
  return parse_rules(*text, path);
}

}  // namespace goban::site::analysis
