// The free GPUs, indexed by node: part of the read-only view of placement policies.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/cluster.hpp"
#include "core/model/count_buckets.hpp"

namespace goban::core::model {

/// The free GPUs of a cluster. Initially empty; GPUs are added and removed one by one.
class FreeGpus {
 public:
  explicit FreeGpus(const Cluster& cluster)
      : cluster_(&cluster),
        gpus_(cluster.num_gpus()),
        by_node_(cluster.nodes().size(), cluster.node_gpus_max()) {}

  /// Adds a GPU; it must not be in the set.
  void give(GpuId gpu) {
    gpus_.insert(gpu.value);
    by_node_.increment(cluster_->node_of(gpu).value);
    ++total_;
  }
  /// Removes a GPU; it must be in the set.
  void take(GpuId gpu) {
    gpus_.erase(gpu.value);
    by_node_.decrement(cluster_->node_of(gpu).value);
    --total_;
  }

  [[nodiscard]] bool is_free(GpuId gpu) const { return gpus_.contains(gpu.value); }
  [[nodiscard]] int32_t total() const { return total_; }
  [[nodiscard]] uint32_t on_node(NodeId node) const { return by_node_.count(node.value); }
  /// Nodes by their number of free GPUs.
  [[nodiscard]] const CountBuckets& by_node() const { return by_node_; }

  /// Lowest free GPU >= from, or DomainSet::kNone.
  [[nodiscard]] uint32_t first_from(uint32_t from) const { return gpus_.first_from(from); }

  /// Appends the `count` lowest free GPUs of a node, which must have that many.
  void append_lowest(NodeId node, uint32_t count, std::vector<GpuId>& out) const {
    uint32_t gpu = cluster_->node(node).first_gpu;
    for (uint32_t i = 0; i < count; ++i, ++gpu) {
      gpu = gpus_.first_from(gpu);
      out.emplace_back(gpu);
    }
  }

  [[nodiscard]] const Cluster& cluster() const { return *cluster_; }

 private:
  const Cluster* cluster_;
  DomainSet gpus_;
  CountBuckets by_node_;
  int32_t total_ = 0;
};

}  // namespace goban::core::model
