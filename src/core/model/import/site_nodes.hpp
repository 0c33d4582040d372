// Nodes of a site as its own tools list them, to be converted to a cluster file. The readers for
// Slurm and Kubernetes produce SiteNodes; all later steps are common.
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
  std::string gpu_model;  ///< the site's name for it; may be empty
  int64_t gpu_mem_bytes = 0;
  HostResources host;
  int64_t sockets = 0;  ///< that the GPUs are attached to; 0 = unknown
  std::string rack;
  std::string zone;
  std::string site;
  std::string state;                    ///< for messages, such as "DOWN+DRAIN"
  bool usable = true;                   ///< not down, drained or cordoned
  std::vector<std::string> partitions;  ///< queues that offer it
  base::Place place;                    ///< its position in the input

  /// Equal GPUs, host resources, rack, zone and site.
  [[nodiscard]] bool same_facts(const SiteNode& other) const;
};

/// Result of a reader: nodes, and notes for the user on how they were read.
struct SiteNodes {
  std::vector<SiteNode> nodes;
  std::vector<std::string> notes;
};

struct ClusterImportOptions {
  std::string name = "cluster";
  bool only_usable = false;  ///< exclude nodes that are down or drained
  /// Make the GPUs of each socket an island.
  bool socket_islands = false;
  /// Add a resource type MODELxN for each GPU model and each N up to the largest node: N GPUs on
  /// one node of that model.
  bool model_types = false;
};

struct ImportedCluster {
  Cluster cluster;
  std::vector<std::string> notes;
};

/// Rejects values that a cluster file cannot represent. Errors: BadData with the node's place and
/// the field.
[[nodiscard]] base::Status check_site_node(const SiteNode& node);

/// Sorts the nodes by site, zone, rack and name (numbers by value), and builds the cluster.
/// Identical duplicate entries count once. Errors: BadData if two entries of a node differ, or no
/// GPU remains.
[[nodiscard]] base::Result<ImportedCluster> build_site_cluster(SiteNodes site,
                                                               const ClusterImportOptions& options);

}  // namespace goban::core::model
