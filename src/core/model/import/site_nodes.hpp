// The nodes of a site as its own tools list them, on their way to a cluster file. Readers of Slurm
// and Kubernetes make SiteNodes; everything behind is the same for both.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/model/cluster.hpp"

namespace goban::core::model {

/// One node as the site states it.
struct SiteNode {
  std::string name;
  int64_t num_gpus = 0;
  std::string gpu_model;  ///< as the site calls it; may be empty
  int64_t gpu_mem_bytes = 0;
  HostResources host;
  int64_t sockets = 0;  ///< over which the GPUs are spread; 0 = not known
  std::string rack;
  std::string zone;
  std::string site;
  std::string state;                    ///< for people, such as "DOWN+DRAIN"
  bool usable = true;                   ///< not down, drained or cordoned
  std::vector<std::string> partitions;  ///< queues that offer it
  base::Place place;                    ///< where it stands in the input

  /// Says the same, wherever it stands and whoever offers it.
  [[nodiscard]] bool same_facts(const SiteNode& other) const;
};

/// What readers found: nodes, and what a person should know of how they were read.
struct SiteNodes {
  std::vector<SiteNode> nodes;
  std::vector<std::string> notes;
};

struct ImportOptions {
  std::string name = "cluster";
  bool only_usable = false;  ///< leave out nodes that are down or drained
  /// The GPUs of each socket are an island.
  bool socket_islands = false;
};

struct ImportedCluster {
  Cluster cluster;
  std::vector<std::string> notes;
};

/// Refuses what no cluster file can hold. Errors: BadData naming the node's place and the field.
[[nodiscard]] base::Status check_site_node(const SiteNode& node);

/// Sorts the nodes by site, zone, rack and name (numbers by value), and builds the cluster. A node
/// listed twice with equal facts counts once. Errors: BadData if two entries of a node differ, or
/// no GPU is left.
[[nodiscard]] base::Result<ImportedCluster> build_site_cluster(SiteNodes site,
                                                               const ImportOptions& options);

}  // namespace goban::core::model
