#include "study/history/spot_supply.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/json_fields.hpp"
#include "base/text_file.hpp"

namespace goban::study::history {
namespace {

using base::Result;
using core::model::Cluster;

constexpr size_t kSupplyBytesMax = size_t{64} << 20;
constexpr size_t kGapsMax = 5'000'000;
constexpr size_t kClosingsMax = 5'000'000;
constexpr int64_t kInstancesMax = 1'000'000;
constexpr const char* kForm =
    "the form is {\"metadata\": {\"gap_seconds\": 300}, \"data\": [3, 4]}";

tl::unexpected<base::Error> bad(const std::string& file, std::string field, std::string message) {
  return base::bad_data({file, 0, 0, std::move(field)}, std::move(message), kForm);
}

/// Position of the node; none if the cluster lacks it.
std::optional<size_t> find_node(const Cluster& cluster, std::string_view name) {
  const auto nodes = cluster.nodes();
  const auto found = std::ranges::find(nodes, name, &core::model::Node::name);
  if (found == nodes.end()) return std::nullopt;
  return static_cast<size_t>(found - nodes.begin());
}

std::vector<size_t> range_of(size_t first, size_t last) {
  std::vector<size_t> nodes;
  for (size_t node = first; node <= last; ++node) nodes.push_back(node);
  return nodes;
}

/// Empty if there is no such group.
std::vector<size_t> nodes_of(const Cluster& cluster, const std::string& group) {
  if (group == "*") return range_of(0, cluster.nodes().size() - 1);
  if (const auto node = find_node(cluster, group)) return {*node};
  if (const size_t dots = group.find(".."); dots != group.npos) {
    const auto first = find_node(cluster, std::string_view(group).substr(0, dots));
    const auto last = find_node(cluster, std::string_view(group).substr(dots + 2));
    if (first && last && *first <= *last) return range_of(*first, *last);
  }
  std::vector<size_t> nodes;
  for (size_t i = 0; i < cluster.nodes().size(); ++i) {
    const core::model::Node& node = cluster.nodes()[i];
    if (node.num_gpus > 0 && cluster.gpu_models()[node.gpu_model].name == group) nodes.push_back(i);
  }
  return nodes;
}

}  // namespace

int32_t SpotSupply::most() const { return *std::ranges::max_element(instances); }

Result<SpotSupply> parse_spot_supply(std::string_view json, const std::string& file) {
  const auto document = base::parse_json(json, file, kForm);
  if (!document) return base::failure(document.error());
  const auto* metadata = base::find_member(*document, "metadata");
  const auto* gap = metadata == nullptr ? nullptr : base::find_member(*metadata, "gap_seconds");
  if (gap == nullptr || !gap->is_number()) {
    return bad(file, "metadata.gap_seconds", "is missing or not a number");
  }
  SpotSupply supply{.gap_s = gap->get<double>(), .instances = {}};
  if (!(supply.gap_s >= 1e-3 && supply.gap_s <= 1e9)) {
    return bad(file, "metadata.gap_seconds", "is not in [0.001, 1e9]");
  }
  const auto* data = base::find_member(*document, "data");
  if (data == nullptr || !data->is_array() || data->empty()) {
    return bad(file, "data", "is missing or not a list of numbers");
  }
  if (data->size() > kGapsMax ||
      static_cast<double>(data->size()) * supply.gap_s > base::kMaxSeconds) {
    return bad(file, "data", fmt::format("{} numbers are too many", data->size()));
  }
  for (size_t i = 0; i < data->size(); ++i) {
    const auto& number = (*data)[i];
    const bool fits = number.is_number_integer() && number >= 0 && number <= kInstancesMax;
    if (!fits) {
      return bad(file, fmt::format("data[{}]", i),
                 fmt::format("is not a number of instances from 0 to {}", kInstancesMax));
    }
    supply.instances.push_back(number.get<int32_t>());
  }
  return supply;
}

Result<SpotGroup> read_spot_group(const std::string& option, const Cluster& cluster) {
  const size_t colon = option.rfind(':');
  if (colon == option.npos || colon == 0 || colon + 1 == option.size()) {
    return base::usage_error(fmt::format("--spot-supply: '{}' is not FILE:GROUP", option),
                             "such as us-east-2b_v100_1.json:V100");
  }
  const std::string group = option.substr(colon + 1);
  std::vector<size_t> nodes = nodes_of(cluster, group);
  if (nodes.empty()) {
    return base::usage_error(
        fmt::format("--spot-supply: the cluster has no nodes '{}'", group),
        fmt::format("give a GPU model, nodes as {}..{}, or *", cluster.nodes().front().name,
                    cluster.nodes().back().name));
  }
  const std::string path = option.substr(0, colon);
  const auto text = base::read_text_file(path, kSupplyBytesMax);
  if (!text) return base::failure(text.error());
  auto supply = parse_spot_supply(*text, base::input_name(path));
  if (!supply) return base::failure(supply.error());
  return SpotGroup{.supply = std::move(*supply), .nodes = std::move(nodes)};
}

base::Status add_outages(const SpotGroup& group, base::TimeNs from_ns, NodeOutages& outages) {
  size_t count = 0;
  const std::vector<int32_t>& instances = group.supply.instances;
  const auto time_of = [&](size_t gap) {
    return from_ns + base::from_seconds(static_cast<double>(gap) * group.supply.gap_s);
  };
  for (size_t rank = 0; rank < group.nodes.size(); ++rank) {
    const auto closed = [&](size_t gap) { return instances[gap] <= static_cast<int64_t>(rank); };
    for (size_t gap = 0; gap < instances.size();) {
      if (!closed(gap)) {
        ++gap;
        continue;
      }
      Outage outage{.begin_ns = time_of(gap), .is_failure = true};
      while (gap < instances.size() && closed(gap)) ++gap;
      if (gap < instances.size()) outage.end_ns = time_of(gap);
      if (++count > kClosingsMax) {
        return base::bad_data(
            {}, fmt::format("--spot-supply closes nodes more than {} times", kClosingsMax),
            "give a shorter file or a smaller group");
      }
      outages[group.nodes[rank]].push_back(outage);
    }
  }
  return {};
}

}  // namespace goban::study::history
