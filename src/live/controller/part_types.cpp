#include "live/controller/part_types.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/number.hpp"

namespace goban::live::controller {

namespace {

constexpr std::string_view kPart = "GPUs of one node: ";

}  // namespace

std::string part_type_name(int32_t gpus) { return fmt::format("{}{}", kPart, gpus); }

int32_t gpus_of_part(std::string_view name) {
  constexpr int64_t kMost = 255;
  if (!name.starts_with(kPart)) return 0;
  const auto gpus = base::parse_int(name.substr(kPart.size()));
  return static_cast<int32_t>(std::clamp<int64_t>(gpus.value_or(0), 0, kMost));
}

core::model::ResourceTypeId part_type_of(const job::JobSpec& spec,
                                         const core::model::Cluster& cluster) {
  return cluster.find_resource_type(part_type_name(spec.num_gpus / std::max(spec.instances, 1)));
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
  int64_t nodes = 0;
  int64_t room = 0;  // for parts
  for (const core::model::Node& node : cluster.nodes()) {
    const int64_t parts_of_node = node.num_gpus / static_cast<uint32_t>(gpus);
    nodes += parts_of_node > 0 ? 1 : 0;
    room += parts_of_node;
  }
  if (share_nodes) {
    if (room >= parts) return {};
    return base::failed(fmt::format("it needs {} with {}; the cluster has room for {}",
                                    base::counted(parts, "pod"), base::counted(gpus, "GPU"), room));
  }
  if (nodes < parts) {
    return base::failed(fmt::format("it needs {} with {}; there {} {}",
                                    base::counted(parts, "node"), base::counted(gpus, "GPU"),
                                    nodes == 1 ? "is" : "are", nodes));
  }
  if (parts > 1 && 2 * gpus <= static_cast<int32_t>(cluster.node_gpus_max())) {
    return base::failed(
        "jobs on several nodes are placed only with more than half of the GPUs of "
        "each");
  }
  return {};
}

}  // namespace goban::live::controller
