#include "live/controller/clusters.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

#include "live/controller/engine_event_json.hpp"
#include "live/controller/part_types.hpp"

namespace goban::live::controller {

using base::Result;
using core::model::Cluster;
using core::model::EventKind;
using core::scheduler::ClusterNumbers;
using nlohmann::json;

namespace {

constexpr int32_t kNodeGpusMax = 255;

/// All nodes have a group at a level, or none has.
void complete(std::vector<SeenNode>& nodes, std::string SeenNode::* group) {
  const bool some =
      std::ranges::any_of(nodes, [&](const SeenNode& node) { return !(node.*group).empty(); });
  for (SeenNode& node : nodes) {
    if (some && (node.*group).empty()) node.*group = "(none)";
  }
}

/// Old GPUs and nodes by name and index.
ClusterNumbers numbers_between(const Cluster& from, const Cluster& to) {
  std::map<std::string_view, uint32_t> places;
  for (uint32_t i = 0; i < to.nodes().size(); ++i) places[to.nodes()[i].name] = i;
  ClusterNumbers out;
  for (const core::model::Node& node : from.nodes()) {
    const auto place = places.find(node.name);
    out.nodes.push_back(place == places.end() ? NodeId{} : NodeId(place->second));
    for (uint32_t gpu = 0; gpu < node.num_gpus; ++gpu) {
      const core::model::Node* now = place == places.end() ? nullptr : &to.nodes()[place->second];
      const bool stays = now != nullptr && gpu < now->num_gpus;
      out.gpus.push_back(stays ? GpuId(now->first_gpu + gpu) : GpuId{});
    }
  }
  return out;
}

bool are_alike(const Cluster& one, const Cluster& other) {
  const auto same_node = [&](const core::model::Node& a, const core::model::Node& b) {
    return a.name == b.name && a.num_gpus == b.num_gpus && a.host == b.host &&
           one.gpu_models()[a.gpu_model].name == other.gpu_models()[b.gpu_model].name;
  };
  const auto same_level = [](const core::model::TopologyLevel& a,
                             const core::model::TopologyLevel& b) {
    return a.name == b.name && a.first_gpu == b.first_gpu;
  };
  const auto same_type = [](const core::model::ResourceType& a,
                            const core::model::ResourceType& b) {
    return a.name == b.name && a.nodes == b.nodes;
  };
  return std::ranges::equal(one.nodes(), other.nodes(), same_node) &&
         std::ranges::equal(one.levels(), other.levels(), same_level) &&
         std::ranges::equal(one.resource_types(), other.resource_types(), same_type);
}

}  // namespace

Result<Cluster> cluster_of(std::vector<SeenNode> nodes, const Cluster& like,
                           std::span<const core::model::GpuModel> known_models, bool share_nodes,
                           std::span<const std::string> kinds) {
  std::erase_if(nodes, [](const SeenNode& node) { return node.num_gpus < 1; });
  for (const auto group : {&SeenNode::rack, &SeenNode::zone, &SeenNode::site}) {
    complete(nodes, group);
  }
  std::ranges::stable_sort(
      nodes, {}, [](const SeenNode& node) { return std::tie(node.site, node.zone, node.rack); });
  core::model::ClusterBuilder builder(like.name());
  std::vector<std::string> models;
  for (const core::model::GpuModel& model : known_models) {
    builder.add_gpu_model(model);
    models.push_back(model.name);
  }
  std::vector<core::model::ResourceType> types(like.resource_types().begin(),
                                               like.resource_types().end());
  for (const std::string& kind : kinds) {
    if (!part_kind(kind) || like.find_resource_type(kind).valid()) continue;
    types.emplace_back().name = kind;
  }
  for (core::model::ResourceType& type : part_types(types, nodes, share_nodes)) {
    builder.add_resource_type(std::move(type));
  }
  std::set<std::string> levels{"node", "cluster"};
  for (const SeenNode& seen : nodes) {
    auto model = std::ranges::find(models, seen.gpu_model);
    if (seen.gpu_model.empty() && !models.empty()) model = models.begin();
    if (model == models.end()) {
      core::model::GpuModel made{.name = seen.gpu_model, .mem_bytes = seen.gpu_mem_bytes};
      builder.add_gpu_model(std::move(made));
      model = models.insert(models.end(), seen.gpu_model);
    }
    core::model::ClusterBuilder::Placed placed;
    placed.node.name = seen.name;
    placed.node.num_gpus = static_cast<uint32_t>(seen.num_gpus);
    placed.node.gpu_model = static_cast<uint32_t>(model - models.begin());
    placed.node.host.cores = seen.cores;
    placed.node.host.mem_bytes = seen.mem_bytes;
    placed.islands = seen.islands;
    placed.rack = seen.rack;
    placed.zone = seen.zone;
    placed.site = seen.site;
    if (seen.islands > 1) levels.insert("island");
    if (!seen.rack.empty()) levels.insert("rack");
    if (!seen.zone.empty()) levels.insert("zone");
    if (!seen.site.empty()) levels.insert("site");
    builder.add_node(std::move(placed));
  }
  for (const core::model::TopologyLevel& level : like.levels()) {
    if (!levels.contains(level.name)) continue;
    builder.set_link(level.name, {.bandwidth_bytes_per_s = level.bandwidth_bytes_per_s,
                                  .latency_s = level.latency_s,
                                  .locality_penalty = level.locality_penalty});
  }
  return builder.build();
}

std::vector<SeenNode> nodes_of(const Cluster& cluster) {
  std::vector<SeenNode> out;
  for (const core::model::Node& node : cluster.nodes()) {
    SeenNode& seen = out.emplace_back();
    seen.name = node.name;
    seen.num_gpus = static_cast<int32_t>(node.num_gpus);
    const core::model::GpuModel& model = cluster.gpu_models()[node.gpu_model];
    seen.gpu_model = model.name;
    seen.gpu_mem_bytes = model.mem_bytes;
    seen.cores = node.host.cores;
    seen.mem_bytes = node.host.mem_bytes;
    if (node.num_gpus == 0) continue;
    for (size_t level = 0; level < cluster.levels().size(); ++level) {
      const std::string& name = cluster.levels()[level].name;
      const uint32_t domain = cluster.domain_of(level, GpuId(node.first_gpu));
      // Padded, so that the names are in the order of the nodes.
      const std::string group = fmt::format("{}{:08}", name, domain);
      if (name == "island") {
        seen.islands = cluster.domain_of(level, GpuId(node.end_gpu() - 1)) - domain + 1;
      } else if (name == "rack") {
        seen.rack = group;
      } else if (name == "zone") {
        seen.zone = group;
      } else if (name == "site") {
        seen.site = group;
      }
    }
  }
  return out;
}

std::set<NodeId> Clusters::named(bool by_finished) const {
  const Cluster& cluster = parts_.core.site().cluster;
  std::set<NodeId> out;
  const auto add = [&](const std::vector<GpuId>& gpus) {
    for (const GpuId gpu : gpus) out.insert(cluster.node_of(gpu));
  };
  for (const auto& [id, job] : parts_.book.jobs) {
    if (job.stage == JobStage::Done && !by_finished) continue;
    add(job.gpus);
    for (const PastRun& run : job.past) add(run.gpus);
  }
  for (const auto& [id, run] : parts_.book.runs) add(run.gpus);
  for (const auto& [id, each] : parts_.book.reservations) {
    out.insert(each.plan.nodes.begin(), each.plan.nodes.end());
  }
  for (const auto& each : parts_.core.state().resources().promised().all()) {
    out.insert(each.nodes.begin(), each.nodes.end());  // of a pilot, too
  }
  for (const auto& running : parts_.core.state().running()) {
    add(running.allocation.gpus);
    out.insert(running.allocation.hosts.begin(), running.allocation.hosts.end());
  }
  for (const auto& [node, reason] : parts_.nodes.drained()) {
    if (!parts_.nodes.is_drained_there(node)) out.insert(node);
  }
  return out;
}

std::set<NodeId> Clusters::held() const {
  const Cluster& cluster = parts_.core.site().cluster;
  std::set<NodeId> out;
  const auto add = [&](const std::vector<GpuId>& gpus) {
    for (const GpuId gpu : gpus) out.insert(cluster.node_of(gpu));
  };
  for (const auto& [id, job] : parts_.book.jobs) {
    if (holds_gpus(job.stage)) add(job.gpus);
  }
  for (const auto& [id, run] : parts_.book.runs) add(run.gpus);
  for (const auto& running : parts_.core.state().running()) add(running.allocation.gpus);
  return out;
}

std::vector<SeenNode> Clusters::wanted(const ClusterSeen& seen, bool by_finished) const {
  std::vector<SeenNode> nodes;
  std::set<std::string_view> names;
  const std::vector<SeenNode> present =
      list_.empty() ? nodes_of(parts_.core.site().cluster) : list_;
  for (const SeenNode& node : seen.nodes) {
    // What runs on a node of which the engine does not know all now keeps its GPUs.
    const auto before = std::ranges::find(present, node.name, &SeenNode::name);
    const bool is_kept = before != present.end() && node.state == SeenNodeState::Drained &&
                         (node.silent || node.num_gpus < before->num_gpus);
    const bool fits = !node.name.empty() && node.num_gpus > 0 && node.num_gpus <= kNodeGpusMax;
    if ((!fits && !is_kept) || !names.insert(node.name).second) continue;
    SeenNode& added = nodes.emplace_back(is_kept ? *before : node);
    added.state = node.state;
    added.reason = node.reason;
    added.silent = node.silent;
  }
  const std::set<NodeId> still_named = named(by_finished), held = this->held();
  for (uint32_t i = 0; i < present.size(); ++i) {
    const auto id = parts_.core.site().cluster.find_node(present[i].name);
    if (!id || !still_named.contains(*id)) continue;
    const auto known = std::ranges::find(nodes, present[i].name, &SeenNode::name);
    if (known == nodes.end()) {
      nodes.push_back(present[i]);
      nodes.back().state = SeenNodeState::Down;
      nodes.back().reason = "left the cluster";
    } else {
      // A GPU that a job names stays, too, unless only runs that have ended do.
      if (by_finished || held.contains(*id)) {
        known->num_gpus = std::max(known->num_gpus, present[i].num_gpus);
      }
    }
  }
  for (SeenNode& node : nodes) {
    if (node.num_gpus % static_cast<int32_t>(node.islands) != 0) node.islands = 1;
  }
  return nodes;
}

ClusterSeen Clusters::completed(ClusterSeen seen) const {
  seen.nodes = wanted(seen, true);
  return seen;
}

void Clusters::take(const ClusterSeen& seen, TimeNs at) {
  const Cluster& present = parts_.core.site().cluster;
  std::vector<SeenNode> nodes = wanted(seen, false);
  const bool share_nodes = parts_.core.site().parts_share_nodes;
  auto made = cluster_of(nodes, present, present.gpu_models(), share_nodes);
  if (!made) {  // groups that do not nest
    for (SeenNode& node : nodes) {
      node.rack.clear();
      node.zone.clear();
      node.site.clear();
    }
    made = cluster_of(nodes, present, present.gpu_models(), share_nodes);
  }
  if (made) {
    for (SeenNode& node : nodes) {  // states are followed apart
      node.state = SeenNodeState::Up;
      node.reason.clear();
    }
    list_ = std::move(nodes);
    if (!are_alike(*made, present)) change(std::move(*made), at);
  }
  follow_states(seen, at);
}

void Clusters::change(Cluster cluster, TimeNs at) {
  const ClusterNumbers numbers = numbers_between(parts_.core.site().cluster, cluster);
  const auto move_gpus = [&](std::vector<GpuId>& gpus) {
    for (GpuId& gpu : gpus) gpu = numbers.gpus[gpu.index()];
    std::erase_if(gpus, [](GpuId gpu) { return !gpu.valid(); });
  };
  for (auto& [id, job] : parts_.book.jobs) {
    move_gpus(job.gpus);
    for (PastRun& run : job.past) move_gpus(run.gpus);
  }
  for (auto& [id, run] : parts_.book.runs) move_gpus(run.gpus);
  for (auto& [id, each] : parts_.book.reservations) {
    for (NodeId& node : each.plan.nodes) node = numbers.nodes[node.index()];
  }
  parts_.limits.renumber(numbers);
  parts_.nodes.renumber(numbers);
  std::set<uint32_t> known;
  for (const NodeId node : numbers.nodes) known.insert(node.value);
  const size_t num_nodes = cluster.nodes().size();
  parts_.core.change_cluster(std::move(cluster), numbers);
  parts_.runs.use(parts_.core.site().cluster);
  for (uint32_t i = 0; i < num_nodes; ++i) {
    if (known.contains(i)) continue;
    parts_.jobs.tell_core({.kind = EventKind::NodeRestored, .at_ns = at, .node = NodeId(i)});
  }
  parts_.seen.check_again(at);
}

void Clusters::follow_states(const ClusterSeen& seen, TimeNs at) {
  const Cluster& cluster = parts_.core.site().cluster;
  std::map<std::string_view, const SeenNode*> by_name;
  for (const SeenNode& node : seen.nodes) by_name.emplace(node.name, &node);
  for (uint32_t i = 0; i < cluster.nodes().size(); ++i) {
    const NodeId node(i);
    const auto found = by_name.find(cluster.nodes()[i].name);
    const SeenNodeState state = found == by_name.end() ? SeenNodeState::Down : found->second->state;
    const bool is_silent = found != by_name.end() && found->second->silent;
    const std::string reason = found == by_name.end() ? "" : found->second->reason;
    parts_.nodes.silent(node, is_silent);
    if (state == SeenNodeState::Down) {
      parts_.nodes.lost(node, at);
      parts_.nodes.drain_there(node, true, reason, at);
      continue;
    }
    if (!is_silent) parts_.nodes.answers(node);
    if (parts_.nodes.down().contains(node)) parts_.nodes.found(node, at);
    parts_.nodes.drain_there(node, state == SeenNodeState::Drained, reason, at);
  }
}

void Clusters::write(json& snapshot) const {
  if (list_.empty()) return;
  put_event(ClusterSeen{.nodes = list_}, snapshot["node_list"]);
  json& models = snapshot["node_list"]["gpu_models"] = json::array();
  for (const core::model::GpuModel& model : parts_.core.site().cluster.gpu_models()) {
    models.push_back({{"name", model.name}, {"mem_bytes", model.mem_bytes}});
  }
  json& kinds = snapshot["node_list"]["part_types"] = json::array();
  for (const core::model::ResourceType& type : parts_.core.site().cluster.resource_types()) {
    if (part_kind(type.name)) kinds.push_back(type.name);
  }
}

void Clusters::read(base::FieldReader& snapshot) {
  ClusterSeen seen;
  std::vector<core::model::GpuModel> models;
  std::vector<std::string> kinds;  // absent in snapshots of earlier releases
  snapshot.object("node_list", [&](base::FieldReader& part) {
    read_event(part, seen);
    part.field("part_types", kinds);
    part.list("gpu_models", [&](base::FieldReader& one) {
      one.field("name", models.emplace_back().name);
      one.field("mem_bytes", models.back().mem_bytes, int64_t{0}, int64_t{1} << 60);
    });
  });
  if (seen.nodes.empty()) return;
  const Cluster& configured = parts_.core.site().cluster;
  // The models in the order of then, with the configured properties.
  for (core::model::GpuModel& model : models) {
    const auto known =
        std::ranges::find(configured.gpu_models(), model.name, &core::model::GpuModel::name);
    if (known != configured.gpu_models().end()) model = *known;
  }
  auto made =
      cluster_of(seen.nodes, configured, models, parts_.core.site().parts_share_nodes, kinds);
  if (!made) return snapshot.fail("node_list", made.error().message);
  list_ = std::move(seen.nodes);
  const ClusterNumbers numbers = numbers_between(configured, *made);
  parts_.core.change_cluster(std::move(*made), numbers);
  parts_.runs.use(parts_.core.site().cluster);
}

}  // namespace goban::live::controller
