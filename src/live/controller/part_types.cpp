#include "live/controller/part_types.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "base/counted.hpp"
#include "base/number.hpp"
#include "live/job/request_values.hpp"

namespace goban::live::controller {

namespace {

using core::model::ResourceType;

constexpr std::string_view kPart = "GPUs of one node: ";
constexpr std::string_view kEqual = "equal";
constexpr char kBetween = '|';
constexpr int64_t kMostGpus = 256;  ///< of a node, and one more

/// Those that the name of a partition ends with (SeenNode); empty: any.
std::vector<uint32_t> indices_of(std::string_view partition) {
  constexpr std::string_view kAt = " at ";
  const size_t at = partition.rfind(kAt);
  if (at == partition.npos) return {};
  std::vector<uint32_t> out;
  for (const std::string_view each : job::split_list(partition.substr(at + kAt.size()), ',')) {
    const auto index = base::parse_int(each);
    if (!index || *index < 0 || *index >= kMostGpus) return {};
    out.push_back(static_cast<uint32_t>(*index));
  }
  return out;
}

/// A node of which no partition is known is in all of them.
bool is_in(const SeenNode& node, const std::string& partition) {
  return node.partitions.empty() ||
         std::ranges::find(node.partitions, partition) != node.partitions.end();
}

/// Names that some nodes have and others have not; without the character between fields.
template <typename Names, typename Has>
std::set<std::string> of_some(std::span<const SeenNode> nodes, Names names_of, Has has) {
  std::set<std::string> out;
  for (const SeenNode& node : nodes) {
    for (const std::string& name : names_of(node)) {
      if (!name.empty() && name.find(kBetween) == name.npos) out.insert(name);
    }
  }
  std::erase_if(out, [&](const std::string& name) {
    const auto has_it = [&](const SeenNode& node) { return has(node, name); };
    return indices_of(name).empty() && std::ranges::all_of(nodes, has_it);
  });
  return out;
}

ResourceType type_of(const PartKind& kind, std::span<const SeenNode> nodes, bool share_nodes) {
  ResourceType type;
  type.name = part_type_name(kind);
  type.gpus = kind.gpus;
  type.max_instances = INT32_MAX;
  type.apart = !share_nodes;
  type.equal_indices = kind.equal;
  type.indices = indices_of(kind.partition);
  if (kind.partition.empty() && kind.model.empty()) return type;
  for (const SeenNode& node : nodes) {
    type.nodes.push_back((kind.partition.empty() || is_in(node, kind.partition)) &&
                         (kind.model.empty() || node.gpu_model == kind.model));
  }
  return type;
}

}  // namespace

std::string part_type_name(const PartKind& kind) {
  std::string name = fmt::format("{}{}", kPart, kind.gpus);
  if (kind == PartKind{.gpus = kind.gpus}) return name;
  return fmt::format("{}{}{}{}{}{}{}", name, kBetween, kind.partition, kBetween, kind.model,
                     kBetween, kind.equal ? kEqual : "");
}

std::optional<PartKind> part_kind(std::string_view name) {
  if (!name.starts_with(kPart)) return std::nullopt;
  name.remove_prefix(kPart.size());
  std::vector<std::string_view> fields(1);
  for (size_t end = name.find(kBetween); end != name.npos; end = name.find(kBetween)) {
    fields.back() = name.substr(0, end);
    name.remove_prefix(end + 1);
    fields.emplace_back();
  }
  fields.back() = name;
  const auto gpus = base::parse_int(fields.front());
  const bool is_whole = fields.size() == 1 || fields.size() == 4;
  if (!gpus || *gpus < 1 || *gpus >= kMostGpus || !is_whole) return std::nullopt;
  PartKind kind{.gpus = static_cast<int32_t>(*gpus)};
  if (fields.size() == 1) return kind;
  kind.partition = fields[1];
  kind.model = fields[2];
  kind.equal = fields[3] == kEqual;
  return kind;
}

std::vector<ResourceType> part_types(std::span<const ResourceType> known,
                                     std::span<const SeenNode> nodes, bool share_nodes) {
  std::vector<ResourceType> types;
  std::set<std::string> names;
  const auto add = [&](ResourceType type) {
    if (!type.indices.empty() && std::cmp_not_equal(type.indices.size(), type.gpus)) return;
    if (names.insert(type.name).second) types.push_back(std::move(type));
  };
  int32_t most = 0;
  for (const ResourceType& type : known) {
    const auto kind = part_kind(type.name);
    add(kind ? type_of(*kind, nodes, share_nodes) : type);
    if (kind) most = std::max(most, kind->gpus);
  }
  for (const SeenNode& node : nodes) most = std::max(most, node.num_gpus);
  for (int32_t gpus = 1; gpus <= most; ++gpus) add(type_of({.gpus = gpus}, nodes, share_nodes));
  std::set<std::string> partitions =
      of_some(nodes, [](const SeenNode& node) { return node.partitions; }, is_in);
  if (share_nodes) {
    for (const std::string& partition : partitions) {
      for (int32_t gpus = 1; gpus <= most; ++gpus) {
        add(type_of({.gpus = gpus, .partition = partition}, nodes, share_nodes));
      }
    }
    return types;
  }
  std::set<std::string> models = of_some(
      nodes, [](const SeenNode& node) { return std::vector{node.gpu_model}; },
      [](const SeenNode& node, const std::string& model) { return node.gpu_model == model; });
  partitions.insert("");
  models.insert("");
  for (const std::string& partition : partitions) {
    for (const std::string& model : models) {
      for (int32_t gpus = 1; gpus <= most; ++gpus) {
        for (const bool equal : {false, true}) {
          add(type_of({.gpus = gpus, .partition = partition, .model = model, .equal = equal}, nodes,
                      share_nodes));
        }
      }
    }
  }
  return types;
}

core::model::ResourceTypeId part_type_of(const job::JobSpec& spec,
                                         const core::model::Cluster& cluster) {
  const int32_t parts = std::max(spec.instances, 1);
  PartKind kind{.gpus = spec.num_gpus / parts, .equal = spec.equal_indices && parts > 1};
  // A name that makes no kind is one that all nodes have.
  for (const bool by_partition : {true, false}) {
    for (const bool by_model : {true, false}) {
      kind.partition = by_partition ? spec.partition : "";
      kind.model = by_model ? spec.gpu_model : "";
      const auto id = cluster.find_resource_type(part_type_name(kind));
      if (id.valid()) return id;
    }
  }
  kind = {.gpus = kind.gpus};
  return cluster.find_resource_type(part_type_name(kind));
}

core::model::ResourceTypeId requested_part_type(const job::JobSpec& spec,
                                                const core::model::Cluster& cluster) {
  const auto id = part_type_of(spec, cluster);
  const bool may_share =
      spec.num_gpus == 1 && spec.training.sharing == core::model::SharingRequest::Yes;
  const bool is_any = id.valid() && cluster.resource_type(id).nodes.empty();
  return may_share && is_any ? core::model::ResourceTypeId{} : id;
}

base::Status check_parts(const job::JobSpec& spec, const core::model::Cluster& cluster,
                         bool share_nodes) {
  const int32_t parts = std::max(spec.instances, 1);
  const std::string asked = base::counted(spec.num_gpus, "GPU");
  if (spec.num_gpus <= 0) return base::failed("it requests no GPUs");
  if (spec.num_gpus % parts != 0) {
    return base::failed(fmt::format("{} cannot be equal on {} nodes", asked, parts));
  }
  const int32_t gpus = spec.num_gpus / parts;
  const auto id = part_type_of(spec, cluster);
  const ResourceType none;
  const ResourceType& type = id.valid() ? cluster.resource_type(id) : none;
  int64_t nodes = 0;
  int64_t room = 0;  // for parts
  for (uint32_t i = 0; i < cluster.nodes().size(); ++i) {
    if (!type.may_use(NodeId(i))) continue;
    const int64_t parts_of_node = cluster.nodes()[i].num_gpus / static_cast<uint32_t>(gpus);
    nodes += parts_of_node > 0 ? 1 : 0;
    room += parts_of_node;
  }
  if (share_nodes) {
    if (room >= parts) return {};
    return base::failed(fmt::format("it needs {} with {}; the cluster has room for {}",
                                    base::counted(parts, "pod"), base::counted(gpus, "GPU"), room));
  }
  if (nodes < parts) {
    const auto kind = part_kind(type.name).value_or(PartKind{});
    const std::string model = kind.model.empty() ? "" : fmt::format(" of type {}", kind.model);
    const std::string partition =
        kind.partition.empty() ? "" : fmt::format(" in partition {}", kind.partition);
    return base::failed(fmt::format("it needs {} with {}{}{}; there {} {}",
                                    base::counted(parts, "node"), base::counted(gpus, "GPU"), model,
                                    partition, nodes == 1 ? "is" : "are", nodes));
  }
  if (parts > 1 && !type.apart && 2 * gpus <= static_cast<int32_t>(cluster.node_gpus_max())) {
    return base::failed(
        "jobs on several nodes are placed only with more than half of the GPUs of "
        "each");
  }
  return {};
}

}  // namespace goban::live::controller
