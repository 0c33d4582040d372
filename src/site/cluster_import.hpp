// Makes a cluster file from the node lists of Slurm, Kubernetes or a public trace. Implements
// `goban cluster import`.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/model/import/site_nodes.hpp"

namespace goban::site {

/// Output files of Slurm's or Kubernetes' commands, or the node table of a trace
/// (docs/cluster-import.md).
struct NodeSources {
  std::string from;                     ///< "slurm", "kubernetes" or "alibaba-spot"
  std::vector<std::string> files;       ///< nodes; "-" is standard input
  std::vector<std::string> topologies;  ///< Slurm's racks and zones
  core::model::ClusterImportOptions options;
};

struct ImportedClusterFile {
  std::string toml;
  core::model::Cluster cluster;
  std::vector<std::string> notes;  ///< for the user; also in the file, as comments
};

/// Errors: Usage if another source than Slurm is given a topology; Failed, BadData with file and
/// line.
[[nodiscard]] base::Result<ImportedClusterFile> import_cluster(const NodeSources& sources);

}  // namespace goban::site
