// Slurm's topology (man topology.conf: topology/tree and topology/block) as racks and zones.
#include <fmt/format.h>
#include <map>
#include <set>

#include "core/model/import/host_list.hpp"
#include "core/model/import/slurm_nodes.hpp"
#include "core/model/import/slurm_text.hpp"

namespace goban::core::model {
namespace {

using base::Result;
using Names = std::vector<std::string>;

struct Switch {
  std::string name;
  Names nodes;
  Names children;
};

Result<Names> names_of(const SlurmRecord& record, const char* key) {
  auto names = expand_host_list(record.value(key));
  if (names) return names;
  base::Error error = names.error();
  error.place = {record.place.file, record.find(key)->line, 0, key};
  return base::failure(std::move(error));
}

Result<std::vector<Switch>> read_switches(std::string_view text, const std::string& file) {
  const auto records = parse_slurm_records(text, file, {"SwitchName", "BlockName"});
  if (!records) return base::failure(records.error());
  std::vector<Switch> switches;
  for (const SlurmRecord& record : *records) {
    Switch& each = switches.emplace_back();
    each.name = record.fields.front().value;
    auto nodes = names_of(record, "Nodes");
    if (!nodes) return base::failure(nodes.error());
    auto children = names_of(record, "Switches");
    if (!children) return base::failure(children.error());
    each.children = std::move(*children);
    // In `scontrol show topology`, outer switches repeat the nodes of the inner ones.
    if (each.children.empty()) each.nodes = std::move(*nodes);
  }
  return switches;
}

}  // namespace

base::Status add_slurm_topology(std::string_view text, const std::string& file, SiteNodes& site) {
  const auto switches = read_switches(text, file);
  if (!switches) return base::failure(switches.error());
  std::map<std::string, std::string> rack_of;
  std::map<std::string, std::string> zone_of;  ///< of racks
  std::set<std::string> zones;
  std::set<std::string> leaves;
  for (const Switch& each : *switches) {
    if (each.children.empty()) leaves.insert(each.name);
    for (const std::string& node : each.nodes) {
      if (!rack_of.emplace(node, each.name).second && rack_of[node] != each.name) {
        return base::bad_data(
            {file, 0, 0, "Nodes"},
            fmt::format("node {} is below two switches: {} and {}", node, rack_of[node], each.name),
            "each node must be below one leaf switch");
      }
    }
  }
  for (const Switch& each : *switches) {
    for (const std::string& child : each.children) {
      if (!leaves.contains(child)) continue;
      zone_of[child] = each.name;
      zones.insert(each.name);
    }
  }
  std::set<std::string> unknown;
  for (const auto& [node, rack] : rack_of) unknown.insert(node);
  for (SiteNode& node : site.nodes) {
    const auto rack = rack_of.find(node.name);
    if (rack == rack_of.end()) continue;
    unknown.erase(node.name);
    node.rack = rack->second;
    if (zones.size() > 1) node.zone = zone_of[rack->second];
  }
  if (!unknown.empty()) {
    site.notes.push_back(fmt::format("{} nodes of {} are not in the node list, such as {}",
                                     unknown.size(), file, *unknown.begin()));
  }
  return {};
}

}  // namespace goban::core::model
