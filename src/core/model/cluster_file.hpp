// Clusters as TOML files. All keys; * marks those that are required:
//
//   name = "abci"
//
//   [[gpu_model]]
//   name = "V100-SXM2-16GB"      # *
//   memory = "16 GiB"            # of one GPU
//   power_max_w = 300
//   power_idle_w = 30
//
//   [[nodes]]                    # * a group of identical nodes; groups keep the order of the file
//   count = 1088                 # default 1
//   name = "g{:04}"              # {} = the number of the node, {:04} = with leading zeros,
//                                # {{ and }} = braces; default "node{:04}"
//   start = 1                    # first number; default 0
//   gpus = 4                     # * 0 = a node without GPUs
//   gpu_model = "V100-SXM2-16GB" # optional if there is only one
//   islands = 1                  # equal groups of GPUs in a node (NVLink, PCIe switch, socket)
//   cores = 40
//   memory = "384 GiB"
//   ssd = "1.6 TB"
//   nodes_per_rack = 34          # or rack = "r7" for the whole group; racks nest in zones
//   zone = "east"
//   site = "tokyo"
//
//   [[link]]                     # between members of an island, node, rack, zone, site, cluster
//   level = "rack"               # *
//   bandwidth = "25 GB/s"        # per direction and member
//   latency = "2 us"
//   uplink_ratio = "1/3"         # bandwidth of the next outer level / bandwidth of this one
//   locality_penalty = 1.1       # measured slowdown of jobs that span members of this level
//
//   [[resource_type]]            # a part of a node that jobs request by name
//   name = "G.small"             # *
//   gpus = 1
//   cores = 5
//   memory = "60 GiB"
//   ssd = "180 GiB"
//   gpu_model = "V100-SXM2-16GB" # on nodes with GPUs of this model only; default: on all
//   max_instances = 1            # per job
//   walltime_max = "168h"        # default: no limit
//   walltime_default = "1h"      # for jobs that request no limit
//
// [[tier]]: storage tiers, see storage_tiers.hpp.
//
// Unknown keys are rejected, so that a typing error never becomes a default.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/config.hpp"
#include "base/result.hpp"
#include "core/model/cluster.hpp"

namespace goban::core::model {

/// Limits of a cluster file or preset: nodes, GPUs per node, GPUs of the cluster.
inline constexpr int64_t kNodesMax = 131'072;
inline constexpr int64_t kNodeGpusMax = 255;
inline constexpr int64_t kGpusMax = int64_t{1} << 24;

/// Parses a cluster file; `file` is its name in messages. Errors: BadData with line, column, field
/// and remedy.
[[nodiscard]] base::Result<Cluster> parse_cluster(std::string_view toml, const std::string& file);

/// Reads one table [[resource_type]], as above; problems go to the reader. The caller checks that
/// the name is unique and that the type fits on a node.
[[nodiscard]] ResourceType read_resource_type(base::TableReader& table);
/// True if one instance fits on the empty node.
[[nodiscard]] bool fits_on(const ResourceType& type, const Node& node);

/// The cluster in this format. parse_cluster returns an equal cluster, except for the names of
/// racks, zones and sites, which a Cluster does not keep.
[[nodiscard]] std::string to_toml(const Cluster& cluster);

}  // namespace goban::core::model
