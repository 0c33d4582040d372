// A cluster as the core sees it: GPUs numbered densely node by node, grouped by topology levels.
// GPU id = position in node order; a domain of any level is a contiguous range of GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "core/model/ids.hpp"

namespace goban::core::model {

/// Host resources other than GPUs: of a node, or requested per instance of a job; 0 = none.
struct HostResources {
  int32_t cores = 0;
  int64_t mem_bytes = 0;
  int64_t ssd_bytes = 0;
  [[nodiscard]] bool empty() const { return cores == 0 && mem_bytes == 0 && ssd_bytes == 0; }
  [[nodiscard]] bool covers(const HostResources& asked) const {
    return asked.cores <= cores && asked.mem_bytes <= mem_bytes && asked.ssd_bytes <= ssd_bytes;
  }
  HostResources& operator+=(const HostResources& more) {
    cores += more.cores;
    mem_bytes += more.mem_bytes;
    ssd_bytes += more.ssd_bytes;
    return *this;
  }
  HostResources& operator-=(const HostResources& less) {
    cores -= less.cores;
    mem_bytes -= less.mem_bytes;
    ssd_bytes -= less.ssd_bytes;
    return *this;
  }
  friend bool operator==(const HostResources&, const HostResources&) = default;
};

/// Properties of a GPU model. The power values are input of the energy model.
struct GpuModel {
  std::string name;
  int64_t mem_bytes = 0;
  double power_max_w = 0;
  double power_idle_w = 0;
  /// The memory of each job on such a GPU can be measured or limited.
  bool memory_enforced = true;
};

struct Node {
  std::string name;
  uint32_t first_gpu = 0;
  uint32_t num_gpus = 0;
  uint32_t gpu_model = 0;  ///< index into Cluster::gpu_models
  HostResources host;
  [[nodiscard]] uint32_t end_gpu() const { return first_gpu + num_gpus; }
};

/// One level of the topology, such as "island", "node", "rack", "zone", "site", "cluster".
/// Levels are kept innermost first; the last one is the whole cluster.
struct TopologyLevel {
  std::string name;
  /// Domain d holds the GPUs [first_gpu[d], first_gpu[d + 1]); one entry more than domains.
  std::vector<uint32_t> first_gpu;
  /// Bandwidth of the links between two members of one domain of this level; 0 = unknown.
  double bandwidth_bytes_per_s = 0;
  double latency_s = 0;
  /// Slowdown of a job that spans members of one domain of this level; unset = not measured.
  std::optional<double> locality_penalty;
  [[nodiscard]] size_t num_domains() const { return first_gpu.size() - 1; }
};

/// A part of a node that a site sells as a unit, such as ABCI's G.small.
struct ResourceType {
  std::string name;
  int32_t gpus = 0;  ///< per instance
  HostResources host;
  int32_t max_instances = 1;
  base::TimeNs walltime_max_ns = 0;      ///< 0 = no limit
  base::TimeNs walltime_default_ns = 0;  ///< used by jobs that request no limit; 0 = the maximum
  std::vector<bool> nodes{};  ///< by NodeId: an instance may lie there; empty = on every node
  bool apart = false;         ///< each instance of a job is on a node of its own
  /// The GPUs of each instance of a job have the same indices on its node. Only with `apart`.
  bool equal_indices = false;
  std::vector<uint32_t> indices{};  ///< of each instance's GPUs on its node; empty = any
  [[nodiscard]] bool may_use(NodeId node) const { return nodes.empty() || nodes[node.index()]; }
};

/// A cluster. Immutable; build it with ClusterBuilder, from a preset or from a TOML file.
class Cluster {
 public:
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[id.index()]; }
  [[nodiscard]] uint32_t num_gpus() const { return static_cast<uint32_t>(gpu_node_.size()); }
  [[nodiscard]] NodeId node_of(GpuId gpu) const { return gpu_node_[gpu.index()]; }
  [[nodiscard]] std::span<const GpuModel> gpu_models() const { return gpu_models_; }

  /// GPUs of the largest node.
  [[nodiscard]] uint32_t node_gpus_max() const { return node_gpus_max_; }

  [[nodiscard]] std::span<const TopologyLevel> levels() const { return levels_; }
  /// Index of the level "node"; lower levels are inside one node.
  [[nodiscard]] size_t node_level() const { return node_level_; }
  /// Domain of a GPU at a level.
  [[nodiscard]] uint32_t domain_of(size_t level, GpuId gpu) const {
    return gpu_domain_[level * gpu_node_.size() + gpu.index()];
  }
  /// Innermost level at which all `gpus` lie in one domain. Cost: levels x gpus. 0 if empty.
  [[nodiscard]] size_t span_level(std::span<const GpuId> gpus) const;

  [[nodiscard]] std::span<const ResourceType> resource_types() const { return resource_types_; }
  [[nodiscard]] const ResourceType& resource_type(ResourceTypeId id) const {
    return resource_types_[id.index()];
  }
  /// The resource type of this name, or an invalid id.
  [[nodiscard]] ResourceTypeId find_resource_type(std::string_view name) const;
  [[nodiscard]] std::optional<NodeId> find_node(std::string_view name) const;

 private:
  friend class ClusterBuilder;
  std::string name_;
  std::vector<Node> nodes_;
  std::vector<GpuModel> gpu_models_;
  std::vector<NodeId> gpu_node_;
  std::vector<TopologyLevel> levels_;
  std::vector<uint32_t> gpu_domain_;
  std::vector<ResourceType> resource_types_;
  size_t node_level_ = 0;
  uint32_t node_gpus_max_ = 0;
};

/// Links of one level, as a cluster file states them.
struct LinkSpec {
  double bandwidth_bytes_per_s = 0;
  double latency_s = 0;
  std::optional<double> locality_penalty;
};

/// Builds a Cluster node by node, in order. The nodes of a rack, a zone and a site must be
/// contiguous.
class ClusterBuilder {
 public:
  explicit ClusterBuilder(std::string name) { cluster_.name_ = std::move(name); }

  /// Returns the index to use in Node::gpu_model.
  uint32_t add_gpu_model(GpuModel model);

  /// A node and its position. `islands` = number of equal NVLink islands or sockets inside;
  /// 1 = none. An empty group name means that the level does not exist; it is then empty for all.
  struct Placed {
    Node node;  ///< first_gpu is filled in
    uint32_t islands = 1;
    std::string rack;
    std::string zone;
    std::string site;
  };
  void add_node(Placed placed);
  void add_resource_type(ResourceType type) { cluster_.resource_types_.push_back(std::move(type)); }
  /// Links between members of one domain of `level` ("island", "node", "rack", "zone", "site",
  /// "cluster").
  void set_link(std::string level, LinkSpec link) { links_.emplace_back(std::move(level), link); }

  /// Errors: no GPUs, a node of more than 255 GPUs, GPUs not divisible by islands, a rack, zone or
  /// site that is not contiguous or not nested, a link for a level that does not exist, duplicate
  /// node or resource type names.
  [[nodiscard]] base::Result<Cluster> build();

 private:
  [[nodiscard]] base::Status add_islands();
  [[nodiscard]] base::Status add_groups(const char* level, std::string Placed::* name);
  void add_level(std::string name, std::vector<uint32_t> first_gpu);

  Cluster cluster_;
  std::vector<Placed> placed_;
  std::vector<std::pair<std::string, LinkSpec>> links_;
};

}  // namespace goban::core::model
