// goban series info and show: what a store holds, and its samples as CSV.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/date_time.hpp"
#include "base/number.hpp"
#include "cli/shell/moment.hpp"
#include "cli/site/series_commands.hpp"
#include "site/series/store_reader.hpp"

namespace goban::cli {
namespace {

using site::series::MetricInfo;
using site::series::StoreReader;

constexpr int64_t kMilli_ns = 1'000'000;

std::string moment_text(int64_t time_ms) { return base::date_time_text(time_ms * kMilli_ns); }

/// What a store has of one metric.
struct Holding {
  const MetricInfo* metric = nullptr;
  size_t devices = 0;
  size_t nodes = 0;
  size_t blocks = 0;
  uint64_t values = 0;
  uint64_t not_available = 0;
  uint64_t stale = 0;
  uint64_t missing = 0;  ///< slots within blocks
  uint64_t damaged_blocks = 0;
  size_t bytes = 0;
  int64_t first_ms = INT64_MAX;
  int64_t last_ms = INT64_MIN;
  uint32_t step_ms = 0;
  std::vector<site::series::StoreDamage> damage;

  [[nodiscard]] uint64_t samples() const { return values + not_available + stale; }
};

void add_block(Holding& holding, const site::series::BlockRef& block) {
  ++holding.blocks;
  holding.first_ms = std::min(holding.first_ms, block.head.start_ms);
  holding.last_ms = std::max(holding.last_ms, block.head.last_ms());
  uint64_t known = 0;
  const auto view = StoreReader::view(block);
  const bool good = view && view->for_each_hour([&](const site::series::Hour& hour) {
    holding.values += hour.values;
    holding.not_available += hour.not_available;
    holding.stale += hour.stale;
    known += hour.values + hour.not_available + hour.stale;
    return true;
  });
  holding.damaged_blocks += good ? 0 : 1;
  holding.missing += block.head.slots - std::min<uint64_t>(known, block.head.slots);
}

base::Result<Holding> holding_of(const std::string& store, const MetricInfo& metric) {
  const auto reader = StoreReader::open(store, metric.metric);
  if (!reader) return base::failure(reader.error());
  Holding holding;
  holding.metric = &metric;
  holding.devices = reader->tracks().size();
  holding.bytes = reader->file_bytes();
  holding.step_ms = reader->step_ms();
  holding.damage = reader->damage();
  std::vector<std::string_view> nodes;
  for (const site::series::Track& track : reader->tracks()) {
    nodes.push_back(track.device.node);
    for (const site::series::BlockRef& block : track.blocks) add_block(holding, block);
  }
  std::ranges::sort(nodes);
  holding.nodes = static_cast<size_t>(std::ranges::unique(nodes).begin() - nodes.begin());
  return holding;
}

double bytes_a_sample(const Holding& holding) {
  return holding.samples() == 0
             ? 0
             : static_cast<double>(holding.bytes) / static_cast<double>(holding.samples());
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
  fmt::print("{:<23}{:<9}{:>6}{:>8}  {:<20}{:<20}{:>13}{:>8}{:>8}{:>9}{:>7}\n", "metric", "unit",
             "nodes", "devices", "first (UTC)", "last (UTC)", "values", "N/A", "stale", "missing",
             "B/smp");
  for (const Holding& h : holdings) {
    fmt::print("{:<23}{:<9}{:>6}{:>8}  {:<20}{:<20}{:>13}{:>8}{:>8}{:>9}{:>7.2f}\n", h.metric->name,
               site::series::name(h.metric->unit), h.nodes, h.devices, moment_text(h.first_ms),
               moment_text(h.last_ms), h.values, h.not_available, h.stale, h.missing,
               bytes_a_sample(h));
  }
}

int print_metrics() {
  for (const MetricInfo& metric : site::series::metrics()) {
    fmt::print("{:<23}{:<8} in steps of {:<5g} {}\n", metric.name, site::series::name(metric.unit),
               metric.quantum, metric.meaning);
  }
  return 0;
}

int info(const std::string& store, bool json) {
  if (store.empty()) return print_metrics();
  std::vector<Holding> holdings;
  for (const MetricInfo& metric : site::series::metrics()) {
    auto holding = holding_of(store, metric);
    if (!holding) return report_error(holding.error());
    if (holding->blocks > 0 || !holding->damage.empty()) holdings.push_back(std::move(*holding));
  }
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
      fmt::print(stderr, "goban: warning: {}: {} bytes of a write cut off, {} damaged bytes\n",
                 damage.file, damage.torn_bytes, damage.damaged_bytes);
    }
    if (h.damaged_blocks > 0) {
      fmt::print(stderr, "goban: warning: {}: {} damaged blocks, their samples count as missing\n",
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
};

bool wanted(const ShowArguments& arguments, const site::series::DeviceKey& device) {
  return (arguments.node.empty() || device.node == arguments.node) &&
         (arguments.device.empty() || device.device == arguments.device ||
          device.uuid == arguments.device);
}

void print_codes(const StoreReader& reader, const site::series::DeviceKey& device,
                 const std::vector<StoreReader::Code>& codes) {
  for (const StoreReader::Code& code : codes) {
    const site::series::State state = site::series::state_of(code.code);
    const std::string value = state == site::series::State::Value
                                  ? base::number_text(code.code * reader.metric().quantum)
                              : state == site::series::State::Stale ? "stale"
                                                                    : "N/A";
    fmt::print("{},{},{},{},{}\n", device.node, device.device, device.uuid,
               base::number_text(static_cast<double>(code.time_ms) / 1000), value);
  }
}

int show(const ShowArguments& arguments) {
  const auto metric = site::series::parse_metric(arguments.metric);
  if (!metric) return report_error(metric.error());
  const auto from = parse_moment_ms("--from", arguments.from, INT64_MIN / 2);
  if (!from) return report_error(from.error());
  const auto to = parse_moment_ms("--to", arguments.to, INT64_MAX / 2);
  if (!to) return report_error(to.error());
  const auto reader = StoreReader::open(arguments.store, *metric, *from, *to);
  if (!reader) return report_error(reader.error());
  std::vector<const site::series::Track*> tracks;
  for (const site::series::Track& track : reader->tracks()) {
    if (wanted(arguments, track.device)) tracks.push_back(&track);
  }
  if (tracks.empty()) {
    return report_error(base::failed(fmt::format("{} has no such series", arguments.store),
                                     "goban series info lists what it has")
                            .value());
  }
  std::ranges::sort(tracks, {}, [](const site::series::Track* track) { return track->device; });
  catch_interrupts();
  fmt::print("node,device,uuid,time_s,{}\n", reader->metric().name);
  std::vector<StoreReader::Code> codes;
  for (const site::series::Track* track : tracks) {
    if (interrupted()) return kExitInterrupted;
    codes.clear();
    const auto visit = reader->read(std::span(&track, 1), *from, *to - 1, codes);
    if (visit.damaged_blocks > 0) {
      fmt::print(stderr, "goban: warning: {} {}: {} damaged blocks left out\n", track->device.node,
                 track->device.device, visit.damaged_blocks);
    }
    print_codes(*reader, track->device, codes);
  }
  return 0;
}

}  // namespace

void add_series_info(Command& series, Action& action) {
  auto store = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  Command* c = series.add_subcommand(
      "info", "What a store holds, and whether it is intact; without one: the metrics known");
  c->add_option("store", *store, "Folder of the store");
  c->add_flag("--json", *json, "As JSON");
  c->footer("Examples:\n  goban series info gpus\n  goban series info");
  c->callback([=, &action] { action = [=] { return info(*store, *json); }; });
}

void add_series_show(Command& series, Action& action) {
  auto arguments = std::make_shared<ShowArguments>();
  Command* c = series.add_subcommand("show", "Samples of a store as CSV");
  c->add_option("store", arguments->store, "Folder of the store")->required();
  c->add_option("--metric", arguments->metric, "Which metric")->capture_default_str();
  c->add_option("--node", arguments->node, "Only this node");
  c->add_option("--device", arguments->device, "Only this GPU: its index or UUID");
  c->add_option("--from", arguments->from, "From this time on");
  c->add_option("--to", arguments->to, "Before this time");
  c->footer(
      "Examples:\n"
      "  goban series show gpus --node g0001 --device 0 --from 2019-04-05 --to 2019-04-06\n"
      "  goban series show gpus --metric gpu_power\n"
      "Times are seconds since 1970, exact to half a step; missing samples have no row.");
  c->callback([arguments, &action] { action = [arguments] { return show(*arguments); }; });
}

}  // namespace goban::cli
