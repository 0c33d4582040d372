#include "core/model/cluster.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace goban::core::model {

using base::bad_data;
using base::Result;
using base::Status;

size_t Cluster::span_level(std::span<const GpuId> gpus) const {
  if (gpus.empty()) return 0;
  for (size_t level = 0; level + 1 < levels_.size(); ++level) {
    const uint32_t first = domain_of(level, gpus[0]);
    const bool together =
        std::ranges::all_of(gpus, [&](GpuId gpu) { return domain_of(level, gpu) == first; });
    if (together) return level;
  }
  return levels_.size() - 1;
}

ResourceTypeId Cluster::find_resource_type(std::string_view name) const {
  const auto found = std::ranges::find(resource_types_, name, &ResourceType::name);
  if (found == resource_types_.end()) return {};
  return ResourceTypeId(static_cast<size_t>(found - resource_types_.begin()));
}

std::optional<NodeId> Cluster::find_node(std::string_view name) const {
  const auto found = std::ranges::find(nodes_, name, &Node::name);
  if (found == nodes_.end()) return std::nullopt;
  return NodeId(static_cast<size_t>(found - nodes_.begin()));
}

uint32_t ClusterBuilder::add_gpu_model(GpuModel model) {
  cluster_.gpu_models_.push_back(std::move(model));
  return static_cast<uint32_t>(cluster_.gpu_models_.size() - 1);
}

void ClusterBuilder::add_node(Placed placed) {
  placed.node.first_gpu =
      placed_.empty() ? 0 : placed_.back().node.first_gpu + placed_.back().node.num_gpus;
  placed_.push_back(std::move(placed));
}

void ClusterBuilder::add_level(std::string name, std::vector<uint32_t> first_gpu) {
  TopologyLevel level;
  level.name = std::move(name);
  level.first_gpu = std::move(first_gpu);
  cluster_.levels_.push_back(std::move(level));
}

Status ClusterBuilder::add_islands() {
  if (std::ranges::all_of(placed_, [](const Placed& p) { return p.islands == 1; })) return {};
  std::vector<uint32_t> first_gpu;
  for (const Placed& placed : placed_) {
    const Node& node = placed.node;
    if (placed.islands == 0 || node.num_gpus % placed.islands != 0) {
      return bad_data({},
                      fmt::format("node {} has {} GPUs in {} islands", node.name, node.num_gpus,
                                  placed.islands),
                      "the number of GPUs must be a multiple of the number of islands");
    }
    if (node.num_gpus == 0) continue;
    const uint32_t size = node.num_gpus / placed.islands;
    for (uint32_t i = 0; i < placed.islands; ++i) first_gpu.push_back(node.first_gpu + i * size);
  }
  first_gpu.push_back(placed_.back().node.end_gpu());
  add_level("island", std::move(first_gpu));
  return {};
}

Status ClusterBuilder::add_groups(const char* level, std::string Placed::* name) {
  if (std::ranges::all_of(placed_, [&](const Placed& p) { return (p.*name).empty(); })) return {};
  std::vector<uint32_t> first_gpu;
  std::set<std::string> seen;
  const std::string* current = nullptr;
  for (const Placed& placed : placed_) {
    const std::string& group = placed.*name;
    if (group.empty()) {
      return bad_data({}, fmt::format("node {} has no {}", placed.node.name, level),
                      fmt::format("give every node a {}, or none", level));
    }
    if (current == nullptr || group != *current) {
      if (!seen.insert(group).second) {
        return bad_data(
            {}, fmt::format("the nodes of {} {} are not contiguous", level, group),
            "list the nodes of a group together; group names must be unique in the cluster");
      }
      first_gpu.push_back(placed.node.first_gpu);
    }
    current = &group;
  }
  first_gpu.push_back(placed_.back().node.end_gpu());
  const std::vector<uint32_t>& inner = cluster_.levels_.back().first_gpu;
  if (!std::ranges::includes(inner, first_gpu)) {
    return bad_data(
        {}, fmt::format("a {} boundary lies inside a {}", level, cluster_.levels_.back().name),
        "groups must nest: racks in zones, zones in sites");
  }
  add_level(level, std::move(first_gpu));
  return {};
}

Result<Cluster> ClusterBuilder::build() {
  std::set<std::string> names;
  uint32_t total = 0;
  for (const Placed& placed : placed_) {
    if (placed.node.num_gpus > 255) {
      return bad_data({},
                      fmt::format("node {} has {} GPUs", placed.node.name, placed.node.num_gpus),
                      "at most 255 GPUs per node");
    }
    if (!names.insert(placed.node.name).second) {
      return bad_data({}, fmt::format("two nodes are named {}", placed.node.name),
                      "node names must be unique");
    }
    total += placed.node.num_gpus;
  }
  if (total == 0) return bad_data({}, "the cluster has no GPUs", "add nodes with gpus > 0");
  if (total > 1u << 24) {
    return bad_data({}, fmt::format("the cluster has {} GPUs", total), "at most 16,777,216 GPUs");
  }
  std::set<std::string> types;
  for (const ResourceType& type : cluster_.resource_types_) {
    if (!types.insert(type.name).second) {
      return bad_data({}, fmt::format("two resource types are named {}", type.name),
                      "resource type names must be unique");
    }
    if (!type.nodes.empty() && type.nodes.size() != placed_.size()) {
      return bad_data({},
                      fmt::format("resource type {} is for {} nodes; there are {}", type.name,
                                  type.nodes.size(), placed_.size()),
                      "say of every node whether it may be used, or of none");
    }
  }

  if (auto status = add_islands(); !status) return base::failure(status.error());
  std::vector<uint32_t> node_first;
  for (const Placed& placed : placed_) {
    cluster_.nodes_.push_back(placed.node);
    node_first.push_back(placed.node.first_gpu);
    cluster_.node_gpus_max_ = std::max(cluster_.node_gpus_max_, placed.node.num_gpus);
    const NodeId id(cluster_.nodes_.size() - 1);
    cluster_.gpu_node_.insert(cluster_.gpu_node_.end(), placed.node.num_gpus, id);
  }
  node_first.push_back(total);
  cluster_.node_level_ = cluster_.levels_.size();
  add_level("node", std::move(node_first));
  if (auto status = add_groups("rack", &Placed::rack); !status) {
    return base::failure(status.error());
  }
  if (auto status = add_groups("zone", &Placed::zone); !status) {
    return base::failure(status.error());
  }
  if (auto status = add_groups("site", &Placed::site); !status) {
    return base::failure(status.error());
  }
  add_level("cluster", {0, total});

  for (const auto& [name, link] : links_) {
    const auto level = std::ranges::find(cluster_.levels_, name, &TopologyLevel::name);
    if (level == cluster_.levels_.end()) {
      return bad_data(
          {},
          fmt::format("a link is given for level {}, which does not exist in this cluster", name),
          "levels are island, node, rack, zone, site, cluster");
    }
    level->bandwidth_bytes_per_s = link.bandwidth_bytes_per_s;
    level->latency_s = link.latency_s;
    level->locality_penalty = link.locality_penalty;
  }

  cluster_.gpu_domain_.resize(cluster_.levels_.size() * total);
  for (size_t level = 0; level < cluster_.levels_.size(); ++level) {
    const std::vector<uint32_t>& first = cluster_.levels_[level].first_gpu;
    for (uint32_t domain = 0; domain + 1 < first.size(); ++domain) {
      for (uint32_t gpu = first[domain]; gpu < first[domain + 1]; ++gpu) {
        cluster_.gpu_domain_[level * total + gpu] = domain;
      }
    }
  }
  return std::move(cluster_);
}

}  // namespace goban::core::model
