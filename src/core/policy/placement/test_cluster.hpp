// A small cluster with scores and free GPUs, for tests of placement policies.
#pragma once

#include <memory>
#include <vector>

#include "core/policy/placement/placement.hpp"

namespace goban::core::policy {

/// Owns what a PlacementView points to. All GPUs are initially free.
class TestCluster {
 public:
  /// `nodes` nodes of `gpus` GPUs; `bin_of_gpu` holds binned scores, equal to the raw ones.
  TestCluster(uint32_t nodes, uint32_t gpus, std::vector<double> bin_of_gpu, double across_nodes,
              uint32_t nodes_per_rack = 0)
      : cluster_(std::make_unique<model::Cluster>(make_cluster(nodes, gpus, nodes_per_rack))),
        scores_({knowledge::class_from_values(bin_of_gpu, bin_of_gpu)}),
        penalties_(*cluster_, across_nodes),
        speed_{cluster_.get(), &scores_, &penalties_},
        free_(*cluster_) {
    bins_.emplace_back(*cluster_, scores_.of(AppClass{0}));
    for (uint32_t gpu = 0; gpu < cluster_->num_gpus(); ++gpu) give(gpu);
  }

  void take(uint32_t gpu) {
    free_.take(GpuId(gpu));
    bins_[0].take(GpuId(gpu));
  }
  void give(uint32_t gpu) {
    free_.give(GpuId(gpu));
    bins_[0].give(GpuId(gpu));
  }
  [[nodiscard]] bool is_free(uint32_t gpu) const { return free_.is_free(GpuId(gpu)); }
  [[nodiscard]] const model::Cluster& cluster() const { return *cluster_; }
  [[nodiscard]] const knowledge::PmScores& scores() const { return scores_; }
  knowledge::LocalityPenalties& penalties() { return penalties_; }

  [[nodiscard]] PlacementView view() const { return {&speed_, &free_, &bins_}; }

  /// GPU ids in selection order; empty if the policy found none.
  [[nodiscard]] std::vector<uint32_t> place(const Placement& placement, uint32_t count,
                                            bool one_node = false, uint64_t seed = 1) const {
    model::JobRequest job;
    job.num_gpus = static_cast<int32_t>(count);
    model::Allocation out;
    const bool found =
        placement.place({&speed_, &free_, &bins_},
                        {.job = &job, .num_gpus = count, .one_node = one_node, .seed = seed}, out);
    std::vector<uint32_t> gpus;
    for (const GpuId gpu : out.gpus) gpus.push_back(gpu.value);
    return found ? gpus : std::vector<uint32_t>{};
  }

 private:
  static model::Cluster make_cluster(uint32_t nodes, uint32_t gpus, uint32_t nodes_per_rack) {
    model::ClusterBuilder builder("test");
    builder.add_gpu_model({.name = "gpu", .mem_bytes = 0, .power_max_w = 0, .power_idle_w = 0});
    for (uint32_t i = 0; i < nodes; ++i) {
      model::ClusterBuilder::Placed placed;
      placed.node.name = "n" + std::to_string(i);
      placed.node.num_gpus = gpus;
      if (nodes_per_rack > 0) placed.rack = "r" + std::to_string(i / nodes_per_rack);
      builder.add_node(placed);
    }
    return builder.build().value();
  }

  std::unique_ptr<model::Cluster> cluster_;
  knowledge::PmScores scores_;
  knowledge::LocalityPenalties penalties_;
  SpeedModel speed_;
  model::FreeGpus free_;
  std::vector<knowledge::BinCounts> bins_;
};

}  // namespace goban::core::policy
