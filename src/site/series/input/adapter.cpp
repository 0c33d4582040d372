#include "site/series/input/adapter.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/config.hpp"
#include "site/series/input/known_exporters.hpp"

namespace goban::site::series {
namespace {

/// "node1.site:9400" -> "node1.site".
void drop_port(std::string& instance) {
  const size_t colon = instance.rfind(':');
  const bool port = colon != std::string::npos && colon > 0 && colon + 1 < instance.size() &&
                    instance.find_first_not_of("0123456789", colon + 1) == std::string::npos;
  if (port) instance.resize(colon);
}

void read_measure(base::TableReader& table, Adapter& adapter) {
  table.require("metric", "such as \"gpu_utilization\"");
  table.require("unit", "such as \"percent\" or \"ratio\"");
  const auto metric = parse_metric(table.text("metric", "gpu_utilization"));
  const auto unit = parse_unit(table.text("unit", "percent"));
  if (!metric) table.refuse("metric", metric.error().message, metric.error().remedy);
  if (!unit) table.refuse("unit", unit.error().message, unit.error().remedy);
  if (metric && unit && !factor(*unit, info(*metric).unit)) {
    table.refuse("unit", fmt::format("'{}' is not a unit of {}", name(*unit), info(*metric).name),
                 fmt::format("it is stored in {}", name(info(*metric).unit)));
  }
  adapter.metric = metric.value_or(Metric::GpuUtilization);
  adapter.unit = unit.value_or(Unit::Percent);
}

void read_role(base::TableReader& table, Adapter& adapter) {
  const std::string role = table.text("role", "sample");
  if (role == "sample") {
    read_measure(table, adapter);
  } else if (role == "freshness") {
    adapter.role = Role::Freshness;
  } else if (role == "success") {
    adapter.role = Role::Success;
  } else if (role == "index") {
    adapter.role = Role::Index;
  } else if (role == "not-available") {
    adapter.role = Role::NotAvailable;
  } else {
    table.refuse("role", fmt::format("unknown role '{}'", role),
                 "known: sample, freshness, success, index, not-available");
  }
}

Adapter read_adapter(base::TableReader& table, const std::string& file) {
  Adapter adapter;
  adapter.exporter = file;
  table.require("name", "set the metric's name in Prometheus");
  adapter.name = table.text("name");
  read_role(table, adapter);
  adapter.node_labels = table.texts("node");
  if (adapter.node_labels.empty()) adapter.node_labels = node_labels();
  adapter.device_labels = table.texts("device");
  adapter.uuid_label = table.text("uuid");
  adapter.freshness = table.text("freshness");
  if (const std::string only = table.text("only"); !only.empty()) {
    const size_t equals = only.find('=');
    if (equals == std::string::npos || equals == 0) {
      table.refuse("only", "must be LABEL=END", "such as only = \"file=gpu.prom\"");
    } else {
      adapter.only_label = only.substr(0, equals);
      adapter.only_value = only.substr(equals + 1);
    }
  }
  table.finish();
  return adapter;
}

}  // namespace

std::string_view label(const Labels& labels, std::string_view name) {
  const auto found = std::ranges::find(labels, name, &Labels::value_type::first);
  return found == labels.end() ? std::string_view{} : std::string_view(found->second);
}

AdapterTable AdapterTable::builtin() {
  AdapterTable table;
  for (Adapter& adapter : known_exporters()) table.add(std::move(adapter));
  return table;
}

void AdapterTable::add(Adapter adapter) {
  std::string name = adapter.name;
  adapters_.insert_or_assign(std::move(name), std::move(adapter));
}

base::Status AdapterTable::add_toml(std::string_view toml, const std::string& file) {
  const auto parsed = base::parse_config(toml, file);
  if (!parsed) return base::failure(parsed.error());
  base::ConfigProblems problems(file);
  base::TableReader document(*parsed, "", problems);
  document.require("adapter", "write [[adapter]] name = \"...\" metric = \"...\" unit = \"...\"");
  std::vector<Adapter> adapters;
  for (base::TableReader& table : document.tables("adapter")) {
    adapters.push_back(read_adapter(table, file));
  }
  document.finish();
  if (problems.any()) return problems.status();
  for (Adapter& adapter : adapters) add(std::move(adapter));
  return {};
}

void AdapterTable::keep(std::span<const Metric> metrics) {
  if (metrics.empty()) return;
  kept_.assign(metrics.begin(), metrics.end());
  std::erase_if(adapters_, [&](const auto& entry) {
    return entry.second.role == Role::Sample &&
           std::ranges::find(metrics, entry.second.metric) == metrics.end();
  });
}

const Adapter* AdapterTable::find(std::string_view name) const {
  const auto found = adapters_.find(name);
  return found == adapters_.end() ? nullptr : &found->second;
}

std::string AdapterTable::node_name(std::string name) const {
  // An IP address has no domain to remove.
  const bool address = name.find_first_not_of("0123456789.") == std::string::npos;
  if (short_node_names && !address) name.resize(std::min(name.find('.'), name.size()));
  return name;
}

std::optional<DeviceKey> AdapterTable::device(const Adapter& adapter, const Labels& labels) const {
  DeviceKey device{"", "", std::string(label(labels, adapter.uuid_label))};
  for (const std::string& wanted : adapter.node_labels) {
    device.node = label(labels, wanted);
    if (device.node.empty()) continue;
    if (wanted == "instance") drop_port(device.node);
    break;
  }
  if (device.node.empty()) device.node = default_node;
  if (device.node.empty()) return std::nullopt;
  device.node = node_name(std::move(device.node));
  for (const std::string& name : adapter.device_labels) {
    const std::string_view part = label(labels, name);
    if (part.empty()) continue;
    if (!device.device.empty()) device.device += '.';
    device.device += part;
  }
  return device;
}

std::optional<Metric> AdapterTable::measured(const Adapter& adapter, const Labels& labels) const {
  if (adapter.role == Role::Sample) return adapter.metric;
  if (adapter.role != Role::NotAvailable) return std::nullopt;
  const auto metric = parse_metric(label(labels, "metric"));
  if (!metric || (!kept_.empty() && std::ranges::find(kept_, *metric) == kept_.end())) {
    return std::nullopt;
  }
  return *metric;
}

bool applies(const Adapter& adapter, const Labels& labels) {
  return adapter.only_label.empty() ||
         label(labels, adapter.only_label).ends_with(adapter.only_value);
}

Reading reading_of(const Adapter& adapter, double raw) {
  constexpr double kBlank = 0x1p62;  // DCGM: 9223372036854775792 and similar
  if (adapter.role == Role::NotAvailable && raw > 0) return {State::NotAvailable, 0};
  if (std::isnan(raw) || adapter.role != Role::Sample) return {State::Missing, 0};
  if (raw >= kBlank) return {State::NotAvailable, 0};
  return {State::Value, raw * factor(adapter.unit, info(adapter.metric).unit).value_or(1)};
}

}  // namespace goban::site::series
