#include "site/analysis/site_shape.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <numeric>

#include "site/analysis/node_sizes.hpp"

namespace goban::site::analysis {
namespace {

using records::RecordRow;
using records::RecordTable;

/// Names of whole-node resource types at ABCI and similar sites.
constexpr std::array<std::string_view, 5> kWholeNodeNames = {"Full", "rt_F", "F", "full", "node"};
/// Nodes per rack at ABCI: the default without a cluster and rules.
constexpr int32_t kPaperRack = 34;
constexpr int32_t kPaperLargest = 512;

/// Maximum number of GPUs that a job held on one node.
int32_t gpus_per_node_seen(const RecordTable& table) {
  int32_t most = 1;
  for (const RecordRow& row : table.rows()) {
    if (row.num_gpus <= 0) continue;
    const int32_t instances = std::max(row.instances, 1);
    if (row.resource_type != records::kNoName) {
      most = std::max(most, row.num_gpus / instances);
    } else if (row.num_nodes > 0) {
      most = std::max(most, (row.num_gpus + row.num_nodes - 1) / row.num_nodes);
    }
  }
  return most;
}

/// Without node counts the size of a node is unknown: the largest job, but at most a usual node.
int32_t gpus_per_node_guess(const RecordTable& table) {
  int32_t most = 0;
  for (const RecordRow& row : table.rows()) most = std::max(most, row.num_gpus);
  constexpr int32_t kUsualNode = 8;
  return std::clamp(most, 1, kUsualNode);
}

bool nodes_known(const RecordTable& table) {
  return std::ranges::any_of(table.rows(), [](const RecordRow& row) {
    return row.num_gpus > 0 && (row.num_nodes > 0 || row.resource_type != records::kNoName);
  });
}

std::vector<int32_t> default_bins(const SiteShape& site) {
  std::vector<int32_t> bins = {1, 2, 4, 8};
  if (site.rack_known || site.num_nodes == 0) {
    for (const int32_t racks : {1, 2, 4}) bins.push_back(racks * site.rack_nodes);
  } else {
    for (int64_t nodes = 16; nodes < site.num_nodes; nodes *= 2) {
      bins.push_back(static_cast<int32_t>(nodes));
    }
  }
  const int32_t most =
      site.job_nodes_max > 0 ? site.job_nodes_max : std::max(kPaperLargest, bins.back());
  std::erase_if(bins, [most](int32_t bound) { return bound >= most; });
  bins.push_back(most);
  std::ranges::sort(bins);
  bins.erase(std::ranges::unique(bins).begin(), bins.end());
  return bins;
}

void shape_cluster(SiteShape& site, const core::model::Cluster& cluster) {
  site.num_nodes = static_cast<int64_t>(cluster.nodes().size());
  site.num_gpus = cluster.num_gpus();
  for (const core::model::GpuModel& gpu : cluster.gpu_models()) site.gpu_models.push_back(gpu.name);
  site.gpus_per_node = static_cast<int32_t>(std::max(cluster.node_gpus_max(), 1U));
  site.job_nodes_max = 0;
  for (const core::model::ResourceType& type : cluster.resource_types()) {
    if (type.gpus == site.gpus_per_node) {
      site.job_nodes_max = std::max(site.job_nodes_max, type.max_instances);
    }
  }
  if (site.job_nodes_max <= 1) site.job_nodes_max = static_cast<int32_t>(site.num_nodes);
  for (size_t level = 0; level < cluster.levels().size(); ++level) {
    if (cluster.levels()[level].name != "rack") continue;
    site.rack_known = true;
    std::vector<int32_t> sizes(cluster.levels()[level].num_domains());
    for (const core::model::Node& node : cluster.nodes()) {
      if (node.num_gpus == 0) continue;
      const uint32_t rack = cluster.domain_of(level, core::model::GpuId(node.first_gpu));
      ++sizes[rack];
      site.rack_of_node[node.name] = rack;
    }
    site.rack_nodes = std::ranges::max(sizes);
  }
}

/// Kinds from the resource types of the records.
class TypeKinds {
 public:
  TypeKinds(const RecordTable& table, const Rules& rules, const core::model::Cluster* cluster)
      : table_(table), rules_(rules), cluster_(cluster), of_type_(table.resource_types().size()) {}

  void find(ShapedSite& shaped) {
    facts_.resize(of_type_.size());
    for (size_t i = 0; i < table_.rows().size(); ++i) {
      const RecordRow& row = table_.rows()[i];
      if (row.resource_type == records::kNoName) continue;
      Facts& facts = facts_[row.resource_type];
      facts.node_gpus = std::max(facts.node_gpus, shaped.node_gpus_of_row[i]);
      const int32_t instances = std::max(row.instances, 1);
      facts.gpus = std::max(facts.gpus, std::max(row.num_gpus, 0) / instances);
      facts.instances = std::max(facts.instances, instances);
      facts.nodes = std::max(facts.nodes, row.num_nodes);
    }
    std::vector<uint32_t> order(facts_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::vector<JobKindInfo> kinds;
    for (const uint32_t type : order) kinds.push_back(kind_of(type));
    std::ranges::stable_sort(order, [&kinds](uint32_t a, uint32_t b) {
      const auto rank = [&kinds](uint32_t i) {
        const JobKindInfo& kind = kinds[i];
        return std::tuple(kind.gpus == 0, kind.whole_node, kind.gpus, std::string_view(kind.name));
      };
      return rank(a) < rank(b);
    });
    for (const uint32_t type : order) {
      of_type_[type] = static_cast<uint16_t>(shaped.site.kinds.size());
      shaped.site.kinds.push_back(std::move(kinds[type]));
    }
  }
  [[nodiscard]] uint16_t operator[](uint32_t type) const { return of_type_[type]; }

 private:
  struct Facts {
    int32_t gpus = 0;
    int32_t instances = 1;
    int32_t nodes = 0;
    int32_t node_gpus = 1;
  };

  [[nodiscard]] bool is_whole_node(const core::model::ResourceType& type) const {
    return type.max_instances > 1 &&
           std::ranges::any_of(cluster_->nodes(), [&type](const core::model::Node& node) {
             return node.num_gpus > 0 && static_cast<int64_t>(node.num_gpus) == type.gpus;
           });
  }

  [[nodiscard]] JobKindInfo kind_of(uint32_t type) const {
    const Facts& facts = facts_[type];
    JobKindInfo kind{.name = std::string(table_.resource_types()[type]), .gpus = facts.gpus};
    if (cluster_ != nullptr) {
      const auto id = cluster_->find_resource_type(kind.name);
      if (id.valid()) kind.offered = cluster_->resource_type(id);
    }
    const auto fits = [&kind](const std::string& pattern) { return matches(pattern, kind.name); };
    if (!rules_.whole_node_types.empty()) {
      kind.whole_node = std::ranges::any_of(rules_.whole_node_types, fits);
      return kind;
    }
    if (kind.offered) {
      kind.gpus = kind.offered->gpus;
      kind.whole_node = is_whole_node(*kind.offered);
      return kind;
    }
    kind.whole_node = std::ranges::find(kWholeNodeNames, kind.name) != kWholeNodeNames.end() ||
                      (facts.gpus >= facts.node_gpus && (facts.instances > 1 || facts.nodes > 1));
    return kind;
  }

  const RecordTable& table_;
  const Rules& rules_;
  const core::model::Cluster* cluster_;
  std::vector<Facts> facts_;
  std::vector<uint16_t> of_type_;
};

/// Kinds by size: one GPU, part of a node, whole nodes, no GPU.
uint16_t size_kind(const RecordTable& table, const RecordRow& row, int32_t node_gpus) {
  if (row.num_gpus <= 0) return 3;
  const int32_t nodes = nodes_of(table, row, node_gpus, false);
  const double held = records::held_gpus(row.num_gpus, row.gpu_milli);
  if (nodes > 1 || held >= node_gpus) return 2;
  return row.num_gpus == 1 ? 0 : 1;
}

void shape_by_size(const RecordTable& table, ShapedSite& shaped) {
  SiteShape& site = shaped.site;
  site.kinds = {{"1 GPU", 1, site.gpus_per_node == 1},
                {"2+ GPUs of a node", site.gpus_per_node - 1, false},
                {"whole node", site.gpus_per_node, true},
                {"no GPU", 0, false}};
  for (size_t i = 0; i < table.rows().size(); ++i) {
    shaped.kind_of_row[i] = size_kind(table, table.rows()[i], shaped.node_gpus_of_row[i]);
  }
}

}  // namespace

int32_t nodes_of(const RecordTable& table, const RecordRow& row, int32_t node_gpus,
                 bool whole_node) {
  if (row.num_nodes > 0) return row.num_nodes;
  if (const auto list = table.nodes_of(row); !list.empty())
    return static_cast<int32_t>(list.size());
  if (whole_node && row.instances > 0) return row.instances;
  if (row.num_gpus <= node_gpus) return 1;
  return (row.num_gpus - 1) / node_gpus + 1;
}

ShapedSite shape_site(const RecordTable& table, const Rules& rules,
                      const core::model::Cluster* cluster) {
  ShapedSite shaped;
  SiteShape& site = shaped.site;
  shaped.kind_of_row.assign(table.rows().size(), 0);
  site.rack_nodes = kPaperRack;
  if (cluster != nullptr) {
    shape_cluster(site, *cluster);
  } else {
    site.gpus_per_node =
        nodes_known(table) ? gpus_per_node_seen(table) : gpus_per_node_guess(table);
  }
  if (rules.gpus_per_node > 0) site.gpus_per_node = rules.gpus_per_node;
  // The limit of ClusterBuilder. Records with a larger value must not affect the figures.
  constexpr int32_t kNodeGpusMax = 255;
  site.gpus_per_node = std::clamp(site.gpus_per_node, 1, kNodeGpusMax);
  const bool from_records = cluster == nullptr && rules.gpus_per_node == 0;
  const NodeSizes sizes(table, rules, cluster, site.gpus_per_node);
  shaped.node_gpus_of_row.reserve(table.rows().size());
  for (const RecordRow& row : table.rows()) shaped.node_gpus_of_row.push_back(sizes.of(row));
  site.guessed_nodes = sizes.guessed();
  if (from_records) {
    for (const int32_t gpus : shaped.node_gpus_of_row) {
      site.gpus_per_node = std::max(site.gpus_per_node, gpus);
    }
  }
  if (rules.rack_nodes > 0) {
    site.rack_nodes = rules.rack_nodes;
    site.rack_known = true;
  }
  site.node_bins = rules.node_bins.empty() ? default_bins(site) : rules.node_bins;
  site.types_recorded = table.resource_types().size() > 0;
  if (!site.types_recorded) {
    shape_by_size(table, shaped);
    return shaped;
  }
  TypeKinds kinds(table, rules, cluster);
  kinds.find(shaped);
  if (cluster != nullptr) {
    for (const core::model::ResourceType& type : cluster->resource_types()) {
      const bool used =
          std::ranges::find(site.kinds, type.name, &JobKindInfo::name) != site.kinds.end();
      if (!used) site.unused_types.push_back(type);
    }
  }
  // Records without a type, if others have one.
  const auto untyped = static_cast<uint16_t>(site.kinds.size());
  bool any_untyped = false;
  for (size_t i = 0; i < table.rows().size(); ++i) {
    const RecordRow& row = table.rows()[i];
    any_untyped |= row.resource_type == records::kNoName;
    shaped.kind_of_row[i] =
        row.resource_type == records::kNoName ? untyped : kinds[row.resource_type];
  }
  if (any_untyped) site.kinds.push_back({"other", 0, false});
  return shaped;
}

size_t SiteShape::bin_of(int32_t nodes) const {
  const auto found = std::ranges::lower_bound(node_bins, nodes);
  return found == node_bins.end() ? node_bins.size() - 1
                                  : static_cast<size_t>(found - node_bins.begin());
}

std::string SiteShape::bin_name(size_t bin) const {
  const int32_t from = bin == 0 ? 1 : node_bins[bin - 1] + 1;
  const int32_t to = node_bins[bin];
  return from == to ? fmt::format("{}", to) : fmt::format("{}-{}", from, to);
}

}  // namespace goban::site::analysis
