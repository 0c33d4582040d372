// goban series prune: downsamples old months of a store to hourly means, or removes them.
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/date_time.hpp"
#include "base/time.hpp"
#include "cli/site/series_commands.hpp"
#include "site/series/prune.hpp"

namespace goban::cli {
namespace {

struct SeriesPruneArguments {
  std::string store;
  std::vector<std::string> metrics;
  std::string hourly_before;
  std::string before;
};

/// First millisecond of a month such as `2024-01`; INT64_MIN if the text is empty.
base::Result<int64_t> month_ms(std::string_view option, const std::string& text) {
  if (text.empty()) return INT64_MIN;
  constexpr size_t kMonthLetters = 7;
  const auto parsed =
      text.size() == kMonthLetters ? base::parse_date_time(text + "-01 00:00:00") : std::nullopt;
  if (parsed) return parsed->unix_ns / base::kMillisecond;
  return base::failure(
      base::usage_error(fmt::format("{}: '{}' is not a valid month", option, text), "write 2024-01")
          .value());
}

int prune_series(const SeriesPruneArguments& arguments) {
  auto metrics = site::series::parse_metrics(arguments.metrics);
  if (!metrics) return report_error(metrics.error());
  if (metrics->empty()) {
    for (const site::series::MetricInfo& each : site::series::metrics())
      metrics->push_back(each.metric);
  }
  const auto hourly = month_ms("--hourly-before", arguments.hourly_before);
  if (!hourly) return report_error(hourly.error());
  const auto before = month_ms("--before", arguments.before);
  if (!before) return report_error(before.error());
  for (const site::series::Metric metric : *metrics) {
    const auto done = site::series::prune(arguments.store, metric,
                                          {.drop_before_ms = *before, .hourly_before_ms = *hourly});
    if (!done) return report_error(done.error());
    if (done->months_dropped + done->months_reduced == 0) continue;
    fmt::print("{}: {} downsampled to hourly means, {} removed; {} bytes before, {} now\n",
               site::series::info(metric).name, base::counted(done->months_reduced, "month"),
               done->months_dropped, done->bytes_before, done->bytes_after);
    if (done->damaged_blocks > 0) {
      fmt::print(stderr, "goban: warning: {}: {} damaged blocks; their samples are now missing\n",
                 site::series::info(metric).name, done->damaged_blocks);
    }
  }
  return 0;
}

}  // namespace

void add_series_prune(Command& series, Action& action) {
  auto arguments = std::make_shared<SeriesPruneArguments>();
  Command* c =
      series.add_subcommand("prune", "Downsample old months to hourly means, or remove them");
  c->add_option("STORE", arguments->store, "Folder of the series store")->required();
  auto* const hourly =
      c->add_option("--hourly-before", arguments->hourly_before,
                    "Downsample the months before this one to hourly means, such as 2022-04")
          ->type_name("MONTH");
  c->add_option("--before", arguments->before, "Remove the months before this one, such as 2014-04")
      ->type_name("MONTH");
  c->add_option("--metric", arguments->metrics, "Prune only these metrics (default: all)");
  c->footer(
      "Examples (keep minutes for two years, hours for ten):\n"
      "  goban series prune gpus --hourly-before 2022-04 --before 2014-04\n"
      "  goban series prune gpus --metric node_temperature --before 2023-01\n"
      "Months are in UTC. Removed samples cannot be restored.");
  c->callback([arguments, hourly, &action] {
    if (arguments->hourly_before.empty() && arguments->before.empty()) {
      refuse_missing(hourly->name() + " or --before");
    }
    action = [arguments] { return prune_series(*arguments); };
  });
}

}  // namespace goban::cli
