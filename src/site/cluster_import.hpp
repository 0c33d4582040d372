// A cluster file from what a site's own tools say of its nodes. What `goban cluster import` does.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/model/import/site_nodes.hpp"

namespace goban::site {

/// Outputs of Slurm's or Kubernetes' commands (docs/cluster-import.md).
struct NodeSources {
  std::string from;                     ///< "slurm" or "kubernetes"
  std::vector<std::string> files;       ///< nodes; "-" is standard input
  std::vector<std::string> topologies;  ///< Slurm's racks and zones
  core::model::ImportOptions options;
};

struct ImportedClusterFile {
  std::string toml;
  core::model::Cluster cluster;
  std::vector<std::string> notes;  ///< for people; the file has them, too
};

/// Errors: Usage if Kubernetes is given a topology; Failed, BadData with file and line.
[[nodiscard]] base::Result<ImportedClusterFile> import_cluster(const NodeSources& sources);

}  // namespace goban::site
