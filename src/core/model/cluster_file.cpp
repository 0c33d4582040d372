#include "core/model/cluster_file.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <unordered_set>

#include "base/config.hpp"
#include "base/number.hpp"
#include "core/model/name_pattern.hpp"
#include "core/model/storage_tiers.hpp"

namespace goban::core::model {
namespace {

using base::ConfigProblems;
using base::Result;
using base::TableReader;

HostResources read_host(TableReader& table) {
  HostResources host;
  host.cores = static_cast<int32_t>(table.whole("cores", 0, 1'000'000, 0));
  host.mem_bytes = table.bytes("memory");
  host.ssd_bytes = table.bytes("ssd");
  return host;
}

/// Converts one file to a Cluster. A step that finds a problem records it and continues with a
/// fallback.
class ClusterReader {
 public:
  ClusterReader(const base::ConfigValue& document, const std::string& file)
      : file_(file), problems_(file), root_(document, "", problems_) {}

  Result<Cluster> run() {
    ClusterBuilder builder(root_.text("name", "cluster"));
    read_gpu_models(builder);
    read_nodes(builder);
    read_links(builder);
    read_resource_types(builder);
    (void)read_storage_tiers(root_);  // they say nothing of nodes and GPUs
    root_.finish();
    if (auto status = problems_.status(); !status) return base::failure(status.error());
    auto cluster = builder.build();
    if (!cluster) {
      // The checks above leave only one possible error: a cluster without GPUs.
      base::Error error = cluster.error();
      error.place.file = file_;
      return base::failure(std::move(error));
    }
    return cluster;
  }

 private:
  void read_gpu_models(ClusterBuilder& builder) {
    for (TableReader& table : root_.tables("gpu_model")) {
      table.require("name", "name the GPU model");
      GpuModel gpu;
      gpu.name = table.text("name");
      gpu.mem_bytes = table.bytes("memory");
      gpu.power_max_w = table.number("power_max_w", 0, 1e5, 0);
      gpu.power_idle_w = table.number("power_idle_w", 0, 1e5, 0);
      table.finish();
      if (gpu.power_max_w > 0 && gpu.power_idle_w > gpu.power_max_w) {
        table.refuse("power_idle_w", "is above power_max_w",
                     "power_idle_w must not exceed power_max_w");
      }
      if (std::ranges::find(gpu_names_, gpu.name) != gpu_names_.end()) {
        table.refuse("name", fmt::format("two GPU models are named {}", gpu.name),
                     "names must be unique");
      }
      gpu_names_.push_back(gpu.name);
      builder.add_gpu_model(std::move(gpu));
    }
    if (gpu_names_.empty()) {
      builder.add_gpu_model({.name = "gpu"});
      gpu_names_.emplace_back("gpu");
    }
  }

  uint32_t read_gpu_model_of(TableReader& table, int64_t num_gpus) {
    const std::string name = table.text("gpu_model");
    if (!table.has("gpu_model")) {
      if (gpu_names_.size() > 1 && num_gpus > 0) {
        table.refuse("gpu_model", "is missing",
                     fmt::format("one of {}", fmt::join(gpu_names_, ", ")));
      }
      return 0;
    }
    const auto found = std::ranges::find(gpu_names_, name);
    if (found == gpu_names_.end()) {
      table.refuse("gpu_model", fmt::format("no GPU model is named {}", name),
                   fmt::format("known: {}", fmt::join(gpu_names_, ", ")));
      return 0;
    }
    return static_cast<uint32_t>(found - gpu_names_.begin());
  }

  /// Checks of one level: the nodes of a name must be contiguous, and all groups or none are named.
  struct Groups {
    const char* level;
    std::set<std::string> seen;
    std::string last;
    bool named = false;
  };

  void check_group(TableReader& table, Groups& groups, const std::string& name, bool is_first,
                   bool outer_changed) {
    if (!is_first && groups.named != !name.empty()) {
      table.refuse(groups.level, "is given for some nodes only",
                   fmt::format("give every group of nodes a {}, or none", groups.level));
    }
    groups.named = !name.empty();
    const bool goes_on = !is_first && name == groups.last;
    if (!name.empty() && goes_on && outer_changed) {
      table.refuse(
          groups.level, fmt::format("{} is in two groups of an outer level", name),
          "racks nest in zones, zones in sites; group names must be unique in the cluster");
    }
    if (!name.empty() && !goes_on && !groups.seen.insert(name).second) {
      table.refuse(groups.level, fmt::format("the nodes of {} are not contiguous", name),
                   "list the nodes of a group together; group names must be unique in the cluster");
    }
    groups.last = name;
  }

  void read_nodes(ClusterBuilder& builder) {
    if (!root_.has("nodes")) root_.refuse("nodes", "is missing", "give [[nodes]] with gpus = ...");
    std::vector<NodeGroup> groups;
    for (TableReader& table : root_.tables("nodes")) groups.push_back(read_node_group(table));
    if (num_gpus_ == 0) {
      root_.refuse("nodes", "the cluster has no GPUs", "give nodes with gpus = 1 or more");
    }
    for (NodeGroup& group : groups) {
      if (problems_.any()) return;
      add_nodes(group, builder);
    }
  }

  /// One [[nodes]]: `first` is the first of its nodes.
  struct NodeGroup {
    TableReader table;
    ClusterBuilder::Placed first;
    NamePattern pattern;
    int64_t count = 0;
    int64_t start = 0;
    int64_t rack_nodes = 0;  ///< 0 = racks are not counted
    int64_t nodes_before = 0;

    /// Counted racks get names that no file can contain: text() rejects control characters.
    [[nodiscard]] std::string rack_of(int64_t i) const {
      if (rack_nodes == 0) return first.rack;
      return fmt::format("\n{}", nodes_before + i - i % rack_nodes);
    }
  };

  NodeGroup read_node_group(TableReader& table) {
    table.require("gpus", "give the number of GPUs of a node, 0 for none");
    const int64_t count = table.whole("count", 1, kNodesMax, 1);
    const std::string pattern_text = table.text("name", "node{:04}");
    const int64_t start = table.whole("start", 0, 1'000'000'000'000, 0);
    const int64_t num_gpus = table.whole("gpus", 0, kNodeGpusMax, 0);
    const int64_t islands = table.whole("islands", 1, kNodeGpusMax, 1);
    const int64_t rack_nodes = table.whole("nodes_per_rack", 1, kNodesMax, 0);
    ClusterBuilder::Placed placed;
    placed.node.num_gpus = static_cast<uint32_t>(num_gpus);
    placed.node.gpu_model = read_gpu_model_of(table, num_gpus);
    placed.node.host = read_host(table);
    placed.islands = static_cast<uint32_t>(islands);
    placed.rack = table.text("rack");
    placed.zone = table.text("zone");
    placed.site = table.text("site");
    table.finish();

    if (num_gpus % islands != 0) {
      table.refuse("islands", fmt::format("{} islands for {} GPUs", islands, num_gpus),
                   "the number of GPUs must be a multiple of the number of islands");
    }
    if (rack_nodes > 0 && !placed.rack.empty()) {
      table.refuse("rack", "cannot be combined with nodes_per_rack", "remove one of them");
    }
    num_nodes_ += count;
    num_gpus_ += count * num_gpus;
    if (num_nodes_ > kNodesMax || num_gpus_ > kGpusMax) {
      table.refuse("count", fmt::format("{} nodes with {} GPUs so far", num_nodes_, num_gpus_),
                   fmt::format("at most {} nodes and {} GPUs", kNodesMax, kGpusMax));
    }
    const auto pattern = NamePattern::parse(pattern_text);
    if (!pattern || (count > 1 && !pattern->has_number())) {
      table.refuse(
          "name",
          fmt::format("\"{}\" is not a valid name pattern for {} nodes", pattern_text, count),
          "mark the place of the number with {} or {:04}");
    }
    NodeGroup group{table,      std::move(placed), pattern.value_or(NamePattern()), count, start,
                    rack_nodes, num_nodes_ - count};
    check_groups(group);
    return group;
  }

  void check_groups(NodeGroup& group) {
    const bool is_first = group.nodes_before == 0;
    const bool site_changed = sites_.last != group.first.site;
    const bool zone_changed = zones_.last != group.first.zone || site_changed;
    check_group(group.table, sites_, group.first.site, is_first, false);
    check_group(group.table, zones_, group.first.zone, is_first, site_changed);
    check_group(group.table, racks_, group.rack_of(0), is_first, zone_changed);
  }

  void add_nodes(NodeGroup& group, ClusterBuilder& builder) {
    ClusterBuilder::Placed placed = group.first;
    for (int64_t i = 0; i < group.count; ++i) {
      placed.node.name = group.pattern.name(group.start + i);
      if (!node_names_.insert(placed.node.name).second) {
        return group.table.refuse("name", fmt::format("two nodes are named {}", placed.node.name),
                                  "node names must be unique; see start");
      }
      placed.rack = group.rack_of(i);
      builder.add_node(placed);
      node_models_.push_back(placed.node.num_gpus > 0 ? std::optional(placed.node.gpu_model)
                                                      : std::nullopt);
    }
    nodes_.push_back(placed.node);
    has_islands_ |= placed.islands > 1;
  }

  /// The levels that the nodes define, innermost first.
  [[nodiscard]] std::vector<std::string> level_names() const {
    std::vector<std::string> names;
    if (has_islands_) names.emplace_back("island");
    names.emplace_back("node");
    if (racks_.named) names.emplace_back("rack");
    if (zones_.named) names.emplace_back("zone");
    if (sites_.named) names.emplace_back("site");
    names.emplace_back("cluster");
    return names;
  }

  void read_links(ClusterBuilder& builder) {
    const std::vector<std::string> levels = level_names();
    std::vector<LinkSpec> links(levels.size());
    std::vector<bool> is_given(levels.size());
    std::vector<double> uplinks(levels.size());
    std::vector<TableReader> tables = root_.tables("link");
    for (TableReader& table : tables) {
      table.require("level", fmt::format("one of {}", fmt::join(levels, ", ")));
      const std::string level = table.text("level");
      LinkSpec link;
      link.bandwidth_bytes_per_s = table.bandwidth("bandwidth");
      link.latency_s = base::to_seconds(table.duration("latency"));
      if (table.has("locality_penalty")) {
        link.locality_penalty = table.number("locality_penalty", 1, 1000, 1);
      }
      const double uplink = read_uplink(table, link.bandwidth_bytes_per_s);
      table.finish();
      const auto found = std::ranges::find(levels, level);
      if (found == levels.end()) {
        table.refuse("level", fmt::format("this cluster has no level {}", level),
                     fmt::format("known: {}", fmt::join(levels, ", ")));
        return;
      }
      const auto at = static_cast<size_t>(found - levels.begin());
      if (is_given[at]) {
        table.refuse("level", fmt::format("duplicate link for level {}", level), "merge them");
      }
      if (uplink > 0 && at + 1 == levels.size()) {
        table.refuse("uplink_ratio", "the cluster has no outer level", "remove it");
        return;
      }
      links[at] = link;
      is_given[at] = true;
      uplinks[at] = uplink;
    }
    for (size_t at = 0; at + 1 < levels.size(); ++at) {
      if (uplinks[at] == 0) continue;
      if (links[at + 1].bandwidth_bytes_per_s > 0) {
        root_.refuse(
            "link", fmt::format("the bandwidth of {} is given twice", levels[at + 1]),
            fmt::format("as bandwidth and by the uplink_ratio of {}; remove one", levels[at]));
      }
      links[at + 1].bandwidth_bytes_per_s = uplinks[at];
    }
    if (problems_.any()) return;
    for (size_t at = 0; at < levels.size(); ++at) builder.set_link(levels[at], links[at]);
  }

  /// Bandwidth of the next outer level; 0 if not given.
  double read_uplink(TableReader& table, double bandwidth_bytes_per_s) {
    if (!table.has("uplink_ratio")) return 0;
    const std::string ratio = table.text_or_number("uplink_ratio");
    const size_t slash = ratio.find('/');
    const auto above = base::parse_double(ratio.substr(0, slash));
    const auto below = slash == ratio.npos ? 1.0 : base::parse_double(ratio.substr(slash + 1));
    if (!above || !below || !(*above > 0) || !(*below >= *above)) {
      table.refuse("uplink_ratio", fmt::format("\"{}\" is not a ratio in (0, 1]", ratio),
                   "such as \"1/3\" or 0.5");
      return 0;
    }
    if (bandwidth_bytes_per_s == 0) {
      table.refuse("uplink_ratio", "requires bandwidth", "add bandwidth to this link");
    }
    return bandwidth_bytes_per_s * *above / *below;
  }

  void read_resource_types(ClusterBuilder& builder) {
    for (TableReader& table : root_.tables("resource_type")) {
      const std::optional<uint32_t> model = read_gpu_model_of_type(table);
      ResourceType type = read_resource_type(table);
      if (!type_names_.insert(type.name).second) {
        table.refuse("name", fmt::format("two resource types are named {}", type.name),
                     "names must be unique");
      }
      const auto fits = [&](const Node& node) {
        return fits_on(type, node) && (!model || (node.num_gpus > 0 && node.gpu_model == *model));
      };
      if (std::ranges::none_of(nodes_, fits)) {
        table.refuse("name", fmt::format("{} fits on no node", type.name),
                     "reduce its gpus, cores, memory or ssd, or give those of the nodes");
      }
      if (model) {
        for (const std::optional<uint32_t>& each : node_models_) {
          type.nodes.push_back(each == model);
        }
      }
      builder.add_resource_type(std::move(type));
      if (problems_.any()) return;
    }
  }

  /// The GPU model on whose nodes alone instances may lie; none: on every node.
  std::optional<uint32_t> read_gpu_model_of_type(TableReader& table) {
    if (!table.has("gpu_model")) return std::nullopt;
    return read_gpu_model_of(table, 0);
  }

  const std::string& file_;
  ConfigProblems problems_;
  TableReader root_;
  std::vector<std::string> gpu_names_;
  std::vector<Node> nodes_;                           ///< one of each group
  std::vector<std::optional<uint32_t>> node_models_;  ///< by node; none: it has no GPUs
  std::unordered_set<std::string> node_names_;
  std::set<std::string> type_names_;
  Groups racks_{"rack", {}, {}};
  Groups zones_{"zone", {}, {}};
  Groups sites_{"site", {}, {}};
  int64_t num_nodes_ = 0;
  int64_t num_gpus_ = 0;
  bool has_islands_ = false;
};

}  // namespace

ResourceType read_resource_type(TableReader& table) {
  table.require("name", "name the resource type");
  ResourceType type;
  type.name = table.text("name");
  type.gpus = static_cast<int32_t>(table.whole("gpus", 0, kNodeGpusMax, 0));
  type.host = read_host(table);
  type.max_instances = static_cast<int32_t>(table.whole("max_instances", 1, kNodesMax, 1));
  type.walltime_max_ns = table.duration("walltime_max");
  type.walltime_default_ns = table.duration("walltime_default");
  table.finish();
  if (type.walltime_max_ns == 0 && table.has("walltime_max")) {
    table.refuse("walltime_max", "is zero", "omit it for no limit");
  }
  if (type.walltime_max_ns > 0 && type.walltime_default_ns > type.walltime_max_ns) {
    table.refuse("walltime_default", "is above walltime_max", "lower it");
  }
  if (type.gpus == 0 && type.host.empty()) {
    table.refuse("name", fmt::format("{} requests no resources", type.name),
                 "give gpus, cores, memory or ssd");
  }
  return type;
}

bool fits_on(const ResourceType& type, const Node& node) {
  return type.gpus <= static_cast<int32_t>(node.num_gpus) && type.host.cores <= node.host.cores &&
         type.host.mem_bytes <= node.host.mem_bytes && type.host.ssd_bytes <= node.host.ssd_bytes;
}

Result<Cluster> parse_cluster(std::string_view toml, const std::string& file) {
  const auto document = base::parse_config(toml, file);
  if (!document) return base::failure(document.error());
  return ClusterReader(*document, file).run();
}

}  // namespace goban::core::model
