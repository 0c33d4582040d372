#include "core/model/import/kubernetes_nodes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_fields.hpp"
#include "base/number.hpp"

namespace goban::core::model {
namespace {

using base::Result;
using nlohmann::json;

struct Suffix {
  std::string_view text;
  double factor;
};
// Two-letter suffixes first.
constexpr std::array kSuffixes = {
    Suffix{"Ki", 0x1p10}, Suffix{"Mi", 0x1p20}, Suffix{"Gi", 0x1p30}, Suffix{"Ti", 0x1p40},
    Suffix{"Pi", 0x1p50}, Suffix{"m", 1e-3},    Suffix{"k", 1e3},     Suffix{"M", 1e6},
    Suffix{"G", 1e9},     Suffix{"T", 1e12},    Suffix{"P", 1e15},
};

/// A quantity of status.allocatable (available to pods), otherwise of status.capacity; 0 if absent.
Result<int64_t> resource(const json& node, const char* name, const base::Place& place) {
  const json* status = base::find_member(node, "status");
  if (status == nullptr) return 0;
  for (const char* group : {"allocatable", "capacity"}) {
    const json* resources = base::find_member(*status, group);
    const json* found = resources == nullptr ? nullptr : base::find_member(*resources, name);
    if (found == nullptr) continue;
    const std::string text = found->is_string() ? found->get<std::string>() : found->dump();
    auto value = parse_kubernetes_quantity(text);
    if (value) return value;
    base::Error error = value.error();
    error.place = place;
    error.place.field += fmt::format(".status.{}.{}", group, name);
    return base::failure(std::move(error));
  }
  return 0;
}

bool is_ready(const json& status) {
  const json* conditions = base::find_member(status, "conditions");
  if (conditions == nullptr || !conditions->is_array()) return true;
  for (const json& condition : *conditions) {
    if (base::text_of(condition, "type") == "Ready")
      return base::text_of(condition, "status") == "True";
  }
  return true;
}

void set_state(const json& entry, SiteNode& node) {
  const json* status = base::find_member(entry, "status");
  const bool ready = status == nullptr || is_ready(*status);
  const json* spec = base::find_member(entry, "spec");
  const json* cordon = spec == nullptr ? nullptr : base::find_member(*spec, "unschedulable");
  const bool cordoned = cordon != nullptr && cordon->is_boolean() && cordon->get<bool>();
  node.usable = ready && !cordoned;
  node.state = ready ? "Ready" : "NotReady";
  if (cordoned) node.state += ",SchedulingDisabled";
}

base::Status set_labels(const json& labels, const base::Place& place, SiteNode& node,
                        SiteNodes& site) {
  node.gpu_model = base::text_of(labels, "nvidia.com/gpu.product");
  if (node.gpu_model.empty()) node.gpu_model = base::text_of(labels, "amd.com/gpu.product-name");
  node.rack = base::text_of(labels, "cloud.provider.com/topology-rack");
  const std::string block = base::text_of(labels, "cloud.provider.com/topology-block");
  const std::string zone = base::text_of(labels, "topology.kubernetes.io/zone");
  const std::string region = base::text_of(labels, "topology.kubernetes.io/region");
  node.zone = block.empty() ? zone : block;
  node.site = block.empty() || zone.empty() ? region : region.empty() ? zone : region + "/" + zone;
  if (const std::string mebibytes = base::text_of(labels, "nvidia.com/gpu.memory");
      !mebibytes.empty()) {
    const auto value = base::parse_int(mebibytes);
    constexpr int64_t kMost = int64_t{1} << 30;
    if (!value || *value < 0 || *value > kMost) {
      base::Place at = place;
      at.field += ".metadata.labels.nvidia.com/gpu.memory";
      return base::bad_data(std::move(at),
                            fmt::format("\"{}\" is not a number of MiB", mebibytes.substr(0, 80)),
                            "GPU feature discovery writes an integer number of MiB");
    }
    node.gpu_mem_bytes = *value << 20;
  }
  const std::string replicas = base::text_of(labels, "nvidia.com/gpu.replicas");
  if (!replicas.empty() && replicas != "0" && replicas != "1") {
    site.notes.push_back(
        fmt::format("{} divides each GPU into {} replicas: its {} GPUs are replicas", node.name,
                    replicas, node.num_gpus));
  }
  return {};
}

base::Status add_node(const json& entry, const base::Place& place, SiteNodes& site) {
  SiteNode node;
  node.place = place;
  const json* metadata = base::find_member(entry, "metadata");
  if (metadata != nullptr) node.name = base::text_of(*metadata, "name");
  for (const char* name : {"nvidia.com/gpu", "amd.com/gpu"}) {
    const auto gpus = resource(entry, name, place);
    if (!gpus) return base::failure(gpus.error());
    node.num_gpus += *gpus;
  }
  const auto cores = resource(entry, "cpu", place);
  if (!cores) return base::failure(cores.error());
  const auto memory = resource(entry, "memory", place);
  if (!memory) return base::failure(memory.error());
  const auto disk = resource(entry, "ephemeral-storage", place);
  if (!disk) return base::failure(disk.error());
  node.host.cores = static_cast<int32_t>(std::min<int64_t>(*cores, INT32_MAX));
  node.host.mem_bytes = *memory;
  node.host.ssd_bytes = *disk;
  const json* labels = metadata == nullptr ? nullptr : base::find_member(*metadata, "labels");
  if (labels != nullptr) {
    if (auto status = set_labels(*labels, place, node, site); !status) return status;
  }
  set_state(entry, node);
  site.nodes.push_back(std::move(node));
  return {};
}

}  // namespace

Result<int64_t> parse_kubernetes_quantity(std::string_view text) {
  std::string_view number = text;
  double factor = 1;
  for (const Suffix& suffix : kSuffixes) {
    if (!text.ends_with(suffix.text)) continue;
    number.remove_suffix(suffix.text.size());
    factor = suffix.factor;
    break;
  }
  const auto value = base::parse_double(number);
  constexpr double kMost = 0x1p60;
  if (!value || !(*value >= 0) || !(*value * factor <= kMost)) {
    return base::bad_data({}, fmt::format("\"{}\" is not a quantity", text.substr(0, 80)),
                          "such as 64, 500m or 512Gi");
  }
  return static_cast<int64_t>(std::floor(*value * factor));
}

Result<SiteNodes> parse_kubernetes_nodes(std::string_view text, const std::string& file) {
  const auto document = base::parse_json(text, file, "pass the command's output unmodified");
  if (!document) return base::failure(document.error());
  SiteNodes site;
  const std::string kind = base::text_of(*document, "kind");
  const json* items = base::find_member(*document, "items");
  if (kind == "Node") {
    if (auto status = add_node(*document, {file, 0, 0, "Node"}, site); !status) {
      return base::failure(status.error());
    }
  } else if (items != nullptr && items->is_array()) {
    for (size_t i = 0; i < items->size(); ++i) {
      const json& item = (*items)[i];
      if (const std::string item_kind = base::text_of(item, "kind");
          !item_kind.empty() && item_kind != "Node") {
        return base::bad_data({file, 0, 0, fmt::format("items[{}].kind", i)},
                              fmt::format("\"{}\" is not a Node", item_kind.substr(0, 80)),
                              "pass the output of kubectl get nodes -o json");
      }
      if (auto status = add_node(item, {file, 0, 0, fmt::format("items[{}]", i)}, site); !status) {
        return base::failure(status.error());
      }
    }
  }
  if (site.nodes.empty()) {
    return base::bad_data({file, 0, 0, ""}, "contains no nodes",
                          "pass the output of kubectl get nodes -o json");
  }
  return site;
}

}  // namespace goban::core::model
