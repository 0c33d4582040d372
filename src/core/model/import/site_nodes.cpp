#include "core/model/import/site_nodes.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

#include "core/model/cluster_file.hpp"
#include "core/model/import/gpu_specs.hpp"
#include "core/model/name_pattern.hpp"

namespace goban::core::model {
namespace {

using base::Result;
using base::Status;

constexpr const char* kNowhere = "(none)";

/// UTF-8 without control characters, as TOML requires.
bool printable(std::string_view text) {
  constexpr unsigned char kDelete = 0x7f;
  const bool has_control = std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == kDelete;
  });
  if (has_control) return false;
  try {
    return !nlohmann::json(text).dump().empty();
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

/// The first few names, and the number of all.
std::string some_of(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  const size_t shown = std::min(kShown, names.size());
  std::string out = fmt::format(
      "{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  return shown < names.size() ? fmt::format("{}, ... ({} in all)", out, names.size()) : out;
}

/// node9 before node10: text around the last number, then the number.
std::tuple<std::string, int64_t, std::string> natural_key(const std::string& name) {
  int64_t number = 0;
  const NamePattern pattern = NamePattern::of_name(name, number);
  return {pattern.has_number() ? pattern.text() : name, number, name};
}

Result<std::vector<SiteNode>> merged(std::vector<SiteNode> nodes) {
  std::map<std::string, size_t> seen;
  std::vector<SiteNode> out;
  for (SiteNode& node : nodes) {
    if (Status status = check_site_node(node); !status) return base::failure(status.error());
    const auto [found, is_new] = seen.emplace(node.name, out.size());
    if (is_new) {
      out.push_back(std::move(node));
      continue;
    }
    SiteNode& first = out[found->second];
    if (!first.same_facts(node)) {
      return base::bad_data(
          node.place, fmt::format("node {} is listed twice with different resources", node.name),
          fmt::format("the first entry is at {}:{}; list each node once", first.place.file,
                      first.place.line));
    }
    first.usable &= node.usable;
    first.partitions.insert(first.partitions.end(), node.partitions.begin(), node.partitions.end());
  }
  return out;
}

void leave_out(std::vector<SiteNode>& nodes, const ClusterImportOptions& options,
               std::vector<std::string>& notes) {
  std::vector<std::string> unusable;
  for (const SiteNode& node : nodes) {
    if (!node.usable) unusable.push_back(fmt::format("{} ({})", node.name, node.state));
  }
  if (unusable.empty()) return;
  notes.push_back(
      fmt::format("{} not usable now, {}: {}",
                  unusable.size() == 1 ? "1 node is" : fmt::format("{} nodes are", unusable.size()),
                  options.only_usable ? "excluded" : "but included", some_of(unusable)));
  if (options.only_usable) std::erase_if(nodes, [](const SiteNode& node) { return !node.usable; });
}

/// A level exists for all nodes or for none: if only some nodes name a group, the others share one.
void complete_groups(std::vector<SiteNode>& nodes, std::string SiteNode::* group, const char* level,
                     std::vector<std::string>& notes) {
  std::vector<std::string> missing;
  for (const SiteNode& node : nodes) {
    if ((node.*group).empty()) missing.push_back(node.name);
  }
  if (missing.empty() || missing.size() == nodes.size()) return;
  for (SiteNode& node : nodes) {
    if ((node.*group).empty()) node.*group = kNowhere;
  }
  notes.push_back(
      fmt::format("the {} of some nodes is unknown; they share one: {}", level, some_of(missing)));
}

/// The GPU models of the nodes, in order of appearance.
class GpuModels {
 public:
  GpuModels(ClusterBuilder& builder, std::vector<std::string>& notes)
      : builder_(&builder), notes_(&notes) {}

  uint32_t index_of(const SiteNode& node) {
    if (node.num_gpus == 0) return 0;
    const std::string name = node.gpu_model.empty() ? "gpu" : node.gpu_model;
    const auto known = numbers_.find(name);
    if (known != numbers_.end()) return known->second;
    GpuModel model;
    model.name = name;
    model.mem_bytes = node.gpu_mem_bytes;
    if (const GpuSpec* spec = find_gpu_spec(name); spec != nullptr) {
      if (model.mem_bytes == 0) model.mem_bytes = spec->mem_bytes;
      model.power_max_w = spec->power_max_w;
    }
    if (model.mem_bytes == 0 || model.power_max_w == 0) {
      notes_->push_back(fmt::format("GPU model {}: {} unknown; add {} by hand", name,
                                    model.mem_bytes == 0 && model.power_max_w == 0
                                        ? "memory and power limit are"
                                    : model.mem_bytes == 0 ? "memory is"
                                                           : "power limit is",
                                    model.mem_bytes == 0 ? "memory" : "power_max_w"));
    }
    const uint32_t number = builder_->add_gpu_model(std::move(model));
    numbers_.emplace(name, number);
    return number;
  }
  [[nodiscard]] bool empty() const { return numbers_.empty(); }

 private:
  ClusterBuilder* builder_;
  std::vector<std::string>* notes_;
  std::map<std::string, uint32_t> numbers_;
};

/// The resource types of ClusterImportOptions::model_types. `models`: of each node, none without
/// GPUs.
void add_model_types(const std::vector<SiteNode>& nodes,
                     const std::vector<std::optional<uint32_t>>& models, ClusterBuilder& builder) {
  std::map<uint32_t, std::vector<size_t>> by_model;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (models[i]) by_model[*models[i]].push_back(i);
  }
  for (const auto& [model, of_model] : by_model) {
    int64_t most = 0;
    for (const size_t i : of_model) most = std::max(most, nodes[i].num_gpus);
    for (int64_t gpus = 1; gpus <= most; ++gpus) {
      int64_t instances = 0;
      for (const size_t i : of_model) instances += nodes[i].num_gpus / gpus;
      const SiteNode& first = nodes[of_model.front()];
      ResourceType type{
          .name = fmt::format("{}x{}", first.gpu_model.empty() ? "gpu" : first.gpu_model, gpus),
          .gpus = static_cast<int32_t>(gpus),
          .host = {},
          .max_instances = static_cast<int32_t>(std::min(instances, kNodesMax))};
      for (const std::optional<uint32_t>& each : models) type.nodes.push_back(each == model);
      builder.add_resource_type(std::move(type));
    }
  }
}

void note_partitions(const std::vector<SiteNode>& nodes, std::vector<std::string>& notes) {
  std::set<std::string> names;
  for (const SiteNode& node : nodes) names.insert(node.partitions.begin(), node.partitions.end());
  if (names.size() < 2) return;
  notes.push_back(
      fmt::format("partitions ({}) are not part of a cluster file: all nodes are one pool",
                  some_of({names.begin(), names.end()})));
}

ClusterBuilder::Placed placed_from(const SiteNode& node, const ClusterImportOptions& options,
                                   std::vector<std::string>& notes) {
  ClusterBuilder::Placed placed;
  placed.node.name = node.name;
  placed.node.num_gpus = static_cast<uint32_t>(node.num_gpus);
  placed.node.host = node.host;
  placed.site = node.site;
  // Groups of the same name in different outer groups are different groups.
  placed.zone = node.zone.empty() ? "" : node.site + "/" + node.zone;
  placed.rack = node.rack.empty() ? "" : node.site + "/" + node.zone + "/" + node.rack;
  if (!options.socket_islands || node.sockets < 2 || node.num_gpus == 0) return placed;
  if (node.num_gpus % node.sockets == 0) {
    placed.islands = static_cast<uint32_t>(node.sockets);
  } else {
    notes.push_back(fmt::format("{}: {} GPUs cannot be divided evenly among {} sockets; no islands",
                                node.name, node.num_gpus, node.sockets));
  }
  return placed;
}

}  // namespace

bool SiteNode::same_facts(const SiteNode& other) const {
  const auto facts = [](const SiteNode& node) {
    return std::tie(node.num_gpus, node.gpu_model, node.gpu_mem_bytes, node.rack, node.zone,
                    node.site);
  };
  return facts(*this) == facts(other) && host == other.host;
}

Status check_site_node(const SiteNode& node) {
  const auto refuse = [&node](const char* field, std::string message, std::string remedy) {
    base::Place place = node.place;
    place.field = field;
    return base::bad_data(std::move(place), std::move(message), std::move(remedy));
  };
  const std::string shown = node.name.substr(0, 80);
  if (node.name.empty() || !printable(node.name)) {
    return refuse("name", "the node name is empty or not printable UTF-8", "give the node a name");
  }
  if (node.num_gpus < 0 || node.num_gpus > kNodeGpusMax) {
    return refuse("gpus", fmt::format("node {} has {} GPUs", shown, node.num_gpus),
                  fmt::format("from 0 to {}", kNodeGpusMax));
  }
  for (const std::string* text : {&node.gpu_model, &node.rack, &node.zone, &node.site}) {
    if (!printable(*text)) {
      return refuse("labels", fmt::format("a label of node {} is not printable UTF-8", shown),
                    "remove the control characters");
    }
  }
  constexpr int32_t kCoresMax = 1'000'000;
  constexpr int64_t kBytesMax = int64_t{1} << 60;
  if (node.host.cores < 0 || node.host.cores > kCoresMax || node.host.mem_bytes < 0 ||
      node.host.mem_bytes > kBytesMax || node.host.ssd_bytes < 0 ||
      node.host.ssd_bytes > kBytesMax || node.gpu_mem_bytes < 0 || node.gpu_mem_bytes > kBytesMax) {
    return refuse("resources", fmt::format("node {} has cores, memory or disk out of range", shown),
                  "at most 1,000,000 cores and 1 EiB");
  }
  return {};
}

Result<ImportedCluster> build_site_cluster(SiteNodes site, const ClusterImportOptions& options) {
  std::vector<std::string> notes = std::move(site.notes);
  auto nodes = merged(std::move(site.nodes));
  if (!nodes) return base::failure(nodes.error());
  leave_out(*nodes, options, notes);
  if (static_cast<int64_t>(nodes->size()) > kNodesMax) {
    return base::bad_data({}, fmt::format("{} nodes", nodes->size()),
                          fmt::format("a cluster has at most {} nodes", kNodesMax));
  }
  complete_groups(*nodes, &SiteNode::site, "site", notes);
  complete_groups(*nodes, &SiteNode::zone, "zone", notes);
  complete_groups(*nodes, &SiteNode::rack, "rack", notes);
  note_partitions(*nodes, notes);
  std::ranges::sort(*nodes, {}, [](const SiteNode& node) {
    return std::tuple(natural_key(node.site), natural_key(node.zone), natural_key(node.rack),
                      natural_key(node.name));
  });

  ClusterBuilder builder(options.name);
  GpuModels models(builder, notes);
  std::vector<std::optional<uint32_t>> node_models;
  for (const SiteNode& node : *nodes) {
    ClusterBuilder::Placed placed = placed_from(node, options, notes);
    placed.node.gpu_model = models.index_of(node);
    node_models.push_back(node.num_gpus > 0 ? std::optional(placed.node.gpu_model) : std::nullopt);
    builder.add_node(std::move(placed));
  }
  if (options.model_types) add_model_types(*nodes, node_models, builder);
  if (models.empty()) {
    return base::bad_data({}, "no node has GPUs",
                          "Slurm lists GPUs as Gres=gpu:..., Kubernetes as nvidia.com/gpu; "
                          "--only-usable excludes nodes that are down");
  }
  auto cluster = builder.build();
  if (!cluster) return base::failure(cluster.error());
  return ImportedCluster{std::move(*cluster), std::move(notes)};
}

}  // namespace goban::core::model
