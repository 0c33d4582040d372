// GPUs per node, where nodes differ: which jobs hold whole nodes depends on it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/cluster.hpp"
#include "site/analysis/rules.hpp"
#include "site/records/record_table.hpp"

namespace goban::site::analysis {

/// The sizes, from the first source that knows them:
/// 1. Rules::gpus_per_node, for all nodes; Rules::gpus_per_node_of, by partition.
/// 2. The cluster: its node of that name; any node, if all are equal; the nodes of the job's GPU
///    model, if those are equal.
/// 3. A guess from the records: the most GPUs that jobs held on the node at one time, at most those
///    of the largest job; where the nodes are not recorded, or fewer than ten jobs ran there, the
///    most that a job of the same partition and GPU model held per node.
class NodeSizes {
 public:
  /// `cluster` may be null. `site_gpus`: of a node about which nothing is known.
  NodeSizes(const records::RecordTable& table, const Rules& rules,
            const core::model::Cluster* cluster, int32_t site_gpus);

  /// GPUs of a node of the job, rounded up if its nodes differ; at least 1.
  [[nodiscard]] int32_t of(const records::RecordRow& row) const;
  /// What was guessed, such as `gpu: 2, dgx: 8`; empty if nothing was.
  [[nodiscard]] std::string guessed() const;

 private:
  void guess_groups();
  void guess_nodes();
  void take_cluster(const core::model::Cluster& cluster);
  /// The size by sources 1 and 2; 0 = unknown.
  [[nodiscard]] int32_t stated(const records::RecordRow& row) const;
  [[nodiscard]] uint32_t group_of(const records::RecordRow& row) const;
  [[nodiscard]] int32_t nodes_mean(const records::RecordRow& row) const;

  const records::RecordTable& table_;
  int32_t site_gpus_;
  bool has_cluster_;
  int32_t all_nodes_ = 0;              ///< every node has so many; 0 = they differ, or unknown
  std::vector<int32_t> of_partition_;  ///< stated in the rules; 0 = not
  std::vector<int32_t> of_model_;      ///< by GPU type of the records; 0 = unknown
  std::vector<int32_t> of_node_;       ///< by node name; 0 = unknown
  std::vector<int32_t> of_group_;      ///< by partition and GPU type; 0 = unknown
};

}  // namespace goban::site::analysis
