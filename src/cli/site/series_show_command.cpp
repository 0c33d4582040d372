// goban series info and show: the contents of a store, and its samples as CSV.
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/date_time.hpp"
#include "base/time.hpp"
#include "cli/shell/csv_as_json.hpp"
#include "cli/shell/moment.hpp"
#include "cli/shell/progress.hpp"
#include "cli/shell/text_table.hpp"
#include "cli/site/series_commands.hpp"
#include "site/series/holdings.hpp"
#include "site/series/samples_csv.hpp"

namespace goban::cli {
namespace {

using site::series::Holding;
using site::series::MetricInfo;

std::string moment_text(int64_t time_ms) {
  return base::date_time_text(time_ms * base::kMillisecond);
}

void print_json(const std::vector<Holding>& holdings) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Holding& h : holdings) {
    out.push_back({{"metric", h.metric->name},
                   {"unit", site::series::name(h.metric->unit)},
                   {"quantum", h.metric->quantum},
                   {"nodes", h.nodes},
                   {"devices", h.devices},
                   {"first_ms", h.first_ms},
                   {"last_ms", h.last_ms},
                   {"step_ms", h.step_ms},
                   {"values", h.values},
                   {"not_available", h.not_available},
                   {"stale", h.stale},
                   {"missing", h.missing},
                   {"blocks", h.blocks},
                   {"damaged_blocks", h.damaged_blocks},
                   {"bytes", h.bytes}});
  }
  fmt::print("{}\n", out.dump(2));
}

void print_table(const std::vector<Holding>& holdings) {
  TextTable table({{"METRIC"},
                   {"UNIT"},
                   {"NODES", true},
                   {"DEVICES", true},
                   {"FIRST (UTC)", true},
                   {"LAST (UTC)", true},
                   {"VALUES", true},
                   {"N/A", true},
                   {"STALE", true},
                   {"MISSING", true},
                   {"B/SAMPLE", true}});
  for (const Holding& h : holdings) {
    const auto count = [](auto value) { return fmt::format("{}", value); };
    table.add({std::string(h.metric->name), std::string(site::series::name(h.metric->unit)),
               count(h.nodes), count(h.devices), moment_text(h.first_ms), moment_text(h.last_ms),
               count(h.values), count(h.not_available), count(h.stale), count(h.missing),
               fmt::format("{:.2f}", h.bytes_per_sample())});
  }
  fmt::print("{}", table.text(output_style()));
}

int print_metrics(bool json) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const MetricInfo& metric : site::series::metrics()) {
    list.push_back({{"metric", metric.name},
                    {"unit", site::series::name(metric.unit)},
                    {"quantum", metric.quantum},
                    {"meaning", metric.meaning}});
  }
  if (json) {
    fmt::print("{}\n", list.dump(2));
    return 0;
  }
  TextTable table({{"METRIC"}, {"UNIT"}, {"STEP", true}, {"MEANING", false, 200}});
  for (const MetricInfo& metric : site::series::metrics()) {
    table.add({std::string(metric.name), std::string(site::series::name(metric.unit)),
               fmt::format("{:g}", metric.quantum), std::string(metric.meaning)});
  }
  fmt::print("{}", table.text(output_style()));
  return 0;
}

int info(const std::string& store, bool json) {
  if (store.empty()) return print_metrics(json);
  const auto found = site::series::store_holdings(store);
  if (!found) return report_error(found.error());
  const std::vector<Holding>& holdings = *found;
  if (json) {
    print_json(holdings);
  } else if (holdings.empty()) {
    fmt::print("{} is empty\n", store);
  } else {
    print_table(holdings);
  }
  bool damaged = false;
  for (const Holding& h : holdings) {
    for (const site::series::StoreDamage& damage : h.damage) {
      fmt::print(stderr, "goban: warning: {}: {} bytes of an interrupted write, {} damaged bytes\n",
                 damage.file, damage.torn_bytes, damage.damaged_bytes);
    }
    if (h.damaged_blocks > 0) {
      fmt::print(stderr, "goban: warning: {}: {} damaged blocks; their samples count as missing\n",
                 h.metric->name, h.damaged_blocks);
      damaged = true;
    }
  }
  return damaged ? static_cast<int>(base::ErrorCode::BadData) : 0;
}

struct ShowArguments {
  std::string store;
  std::string metric = "gpu_utilization";
  std::string node;
  std::string device;
  std::string from;
  std::string to;
  bool json_out = false;
};

int show(const ShowArguments& arguments) {
  const auto metric = site::series::parse_metric(arguments.metric);
  if (!metric) return report_error(metric.error());
  const auto from = parse_moment_ms("--from", arguments.from, INT64_MIN / 2);
  if (!from) return report_error(from.error());
  const auto to = parse_moment_ms("--to", arguments.to, INT64_MAX / 2);
  if (!to) return report_error(to.error());
  catch_interrupts();
  CsvAsJson as_json({"node", "device", "metric"});
  const auto damaged = site::series::write_samples_csv(
      arguments.store, {*metric, arguments.node, arguments.device, *from, *to}, ProgressBar(),
      [&](std::string_view text) {
        if (arguments.json_out) {
          as_json.take(text);
        } else {
          std::fwrite(text.data(), 1, text.size(), stdout);
        }
      });
  if (!damaged) return report_error(damaged.error());
  if (arguments.json_out) as_json.finish();
  for (const site::series::DamagedDevice& each : *damaged) {
    fmt::print(stderr, "goban: warning: {} {}: {} damaged blocks skipped\n", each.node, each.device,
               each.blocks);
  }
  return interrupted() ? kExitInterrupted : 0;
}

}  // namespace

void add_series_info(Command& series, Action& action) {
  auto store = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  Command* c = series.add_subcommand(
      "info",
      "Print what a store contains and whether it is intact; without a store, list the metrics");
  c->add_option("STORE", *store, "Folder of the series store");
  c->add_flag("--json", *json, "Print JSON only");
  c->footer("Examples:\n  goban series info gpus\n  goban series info");
  c->callback([=, &action] { action = [=] { return info(*store, *json); }; });
}

void add_series_show(Command& series, Action& action) {
  auto arguments = std::make_shared<ShowArguments>();
  Command* c = series.add_subcommand("show", "Print samples of a store as CSV");
  c->add_option("STORE", arguments->store, "Folder of the series store")->required();
  c->add_option("--metric", arguments->metric, "Metric to print")->capture_default_str();
  c->add_option("--node", arguments->node, "Print only this node");
  c->add_option("--device", arguments->device, "Print only this GPU, by index or UUID");
  c->add_option("--from", arguments->from, "Print samples at or after this time");
  c->add_option("--to", arguments->to, "Print samples before this time");
  c->add_flag("--json", arguments->json_out, "Print JSON only");
  c->footer(
      "Examples:\n"
      "  goban series show gpus --node g0001 --device 0 --from 2019-04-05 --to 2019-04-06\n"
      "  goban series show gpus --metric gpu_power\n"
      "Times are in seconds since 1970, exact to half a step. Missing samples have no row.");
  c->callback([arguments, &action] { action = [arguments] { return show(*arguments); }; });
}

}  // namespace goban::cli
