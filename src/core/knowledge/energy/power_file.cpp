#include "core/knowledge/energy/power_file.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <set>

#include "base/config.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace goban::core::knowledge {
namespace {

using base::ConfigProblems;
using base::Result;
using base::TableReader;

constexpr double kWattsMax = 1e6;
constexpr double kJoulesMax = 1e9;
constexpr int64_t kGpusMax = 255;

/// Converts one file to a catalog. A step that finds a problem records it and continues with a
/// fallback.
class PowerReader {
 public:
  PowerReader(const base::ConfigValue& document, const std::string& file)
      : problems_(file), root_(document, "", problems_) {}

  Result<PowerCatalog> run() {
    PowerCatalog catalog;
    root_.require("node", "describe a kind of node under [[node]]");
    for (TableReader& table : root_.tables("node")) catalog.models.push_back(read_node(table));
    root_.finish();
    if (auto status = problems_.status(); !status) return base::failure(status.error());
    return catalog;
  }

 private:
  static double required_w(TableReader& table, const char* key, double least = 0) {
    table.require(key, "give the power in watts; it has no default");
    return table.number(key, least, kWattsMax, least);
  }

  PowerModel read_node(TableReader& table) {
    PowerModel node;
    table.require("name", "name the kind of node");
    table.require("gpus", "give the number of GPUs of the measured node");
    node.name = table.text("name");
    node.gpu_model = table.text("gpu_model");
    node.num_gpus = static_cast<int32_t>(table.whole("gpus", 1, kGpusMax, 1));
    node.host_idle_w = required_w(table, "host_idle_w");
    node.gpu_idle_w = required_w(table, "gpu_idle_w");
    node.gpu_context_w = table.number("gpu_context_w", 0, kWattsMax, node.gpu_idle_w);
    node.gpu_max_w = required_w(table, "gpu_max_w");
    node.gpu_dynamic_w = required_w(table, "gpu_dynamic_w");
    node.exponent = table.number("exponent", 0.01, 10, 1);
    node.gpu_share_base_w = table.number("gpu_share_base_w", 0, kWattsMax, node.gpu_idle_w);
    check_order(table, node);
    if (!gpu_models_.insert(node.gpu_model).second) {
      table.refuse("gpu_model", "two kinds of node have the same gpu_model",
                   "gpu_model must be unique");
    }
    const double idle_w = node.node_idle_w(static_cast<uint32_t>(node.num_gpus));
    node.sleep.power_w = idle_w;  // without a low-power state the node idles
    node.off.power_w = idle_w;
    read_states(table, node);
    read_caps(table, node);
    table.finish();
    return node;
  }

  static void check_order(TableReader& table, const PowerModel& node) {
    if (node.gpu_context_w < node.gpu_idle_w) {
      table.refuse("gpu_context_w", "is below gpu_idle_w",
                   "raise gpu_context_w or lower gpu_idle_w");
    }
    if (node.gpu_max_w < node.gpu_context_w) {
      table.refuse("gpu_max_w", "is below gpu_context_w", "give the board's limit");
    }
    if (node.gpu_share_base_w < node.gpu_idle_w) {
      table.refuse("gpu_share_base_w", "is below gpu_idle_w", "omit it if unknown");
    }
  }

  static void read_states(TableReader& node_table, PowerModel& node) {
    std::set<std::string> seen;
    for (TableReader& table : node_table.tables("state")) {
      table.require("name", "sleep or off");
      const std::string name = table.text("name");
      RestState rest;
      rest.power_w = required_w(table, "power_w");
      rest.enter_s = base::to_seconds(table.duration("enter"));
      rest.enter_j = table.number("enter_j", 0, kJoulesMax, 0);
      rest.wake_s = base::to_seconds(table.duration("wake"));
      rest.wake_j = table.number("wake_j", 0, kJoulesMax, 0);
      table.finish();
      if (name != "sleep" && name != "off") {
        table.refuse("name", fmt::format("unknown state {}", name), "known: sleep, off");
      }
      if (!seen.insert(name).second) {
        table.refuse("name", fmt::format("duplicate state {}", name), "keep one");
      }
      (name == "off" ? node.off : node.sleep) = rest;
    }
  }

  static void read_caps(TableReader& node_table, PowerModel& node) {
    double above_w = std::numeric_limits<double>::max();
    for (TableReader& table : node_table.tables("power_cap")) {
      for (const char* key : {"cap_w", "energy_factor", "time_factor"}) {
        table.require(key, "a power_cap requires cap_w, energy_factor and time_factor");
      }
      PowerCap cap;
      cap.cap_w = table.number("cap_w", 1, kWattsMax, 1);
      cap.energy_factor = table.number("energy_factor", 0.01, 100, 1);
      cap.time_factor = table.number("time_factor", 0.01, 100, 1);
      table.finish();
      if (cap.cap_w >= above_w) {
        table.refuse("cap_w", "is not below the previous one", "list caps in descending order");
      }
      above_w = cap.cap_w;
      node.caps.push_back(cap);
    }
  }

  ConfigProblems problems_;
  TableReader root_;
  std::set<std::string> gpu_models_;
};

class PowerWriter {
 public:
  std::string run(const PowerCatalog& catalog) {
    for (const PowerModel& node : catalog.models) write_node(node);
    return std::move(out_);
  }

 private:
  void line(const char* key, const std::string& value) {
    out_ += fmt::format("{} = {}\n", key, value);
  }
  void number(const char* key, double value) { line(key, base::number_text(value)); }

  void write_state(const char* name, const RestState& rest) {
    out_ += "\n[[node.state]]\n";
    line("name", base::quoted(name));
    number("power_w", rest.power_w);
    line("enter", base::quoted(base::duration_text(base::from_seconds(rest.enter_s))));
    number("enter_j", rest.enter_j);
    line("wake", base::quoted(base::duration_text(base::from_seconds(rest.wake_s))));
    number("wake_j", rest.wake_j);
  }

  void write_node(const PowerModel& node) {
    if (!out_.empty()) out_ += '\n';
    out_ += "[[node]]\n";
    line("name", base::quoted(node.name));
    if (!node.gpu_model.empty()) line("gpu_model", base::quoted(node.gpu_model));
    line("gpus", std::to_string(node.num_gpus));
    number("host_idle_w", node.host_idle_w);
    number("gpu_idle_w", node.gpu_idle_w);
    number("gpu_context_w", node.gpu_context_w);
    number("gpu_max_w", node.gpu_max_w);
    number("gpu_dynamic_w", node.gpu_dynamic_w);
    number("exponent", node.exponent);
    number("gpu_share_base_w", node.gpu_share_base_w);
    write_state("sleep", node.sleep);
    write_state("off", node.off);
    for (const PowerCap& cap : node.caps) {
      out_ += "\n[[node.power_cap]]\n";
      number("cap_w", cap.cap_w);
      number("energy_factor", cap.energy_factor);
      number("time_factor", cap.time_factor);
    }
  }

  std::string out_;
};

}  // namespace

Result<PowerCatalog> parse_power(std::string_view toml, const std::string& file) {
  const auto document = base::parse_config(toml, file);
  if (!document) return base::failure(document.error());
  return PowerReader(*document, file).run();
}

std::string to_toml(const PowerCatalog& catalog) { return PowerWriter().run(catalog); }

}  // namespace goban::core::knowledge
