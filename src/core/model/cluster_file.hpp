// Clusters as TOML files. A file reads like this; every key is shown, * marks the required ones:
//
//   name = "abci"
//
//   [[gpu_model]]
//   name = "V100-SXM2-16GB"      # *
//   memory = "16 GiB"            # of one GPU
//   power_max_w = 300
//   power_idle_w = 30
//
//   [[nodes]]                    # * a group of equal nodes; groups follow each other as written
//   count = 1088                 # 1 if left out
//   name = "g{:04}"              # {} = the number of the node, {:04} = with leading zeros,
//                                # {{ and }} = braces; "node{:04}" if left out
//   start = 1                    # first number, 0 if left out
//   gpus = 4                     # * 0 = a node without GPUs
//   gpu_model = "V100-SXM2-16GB" # may be left out if there is only one
//   islands = 1                  # equal groups of GPUs inside the node (NVLink, PCIe switch,
//   socket) cores = 40 memory = "384 GiB" ssd = "1.6 TB" nodes_per_rack = 34          # or rack =
//   "r7": all of the group; racks nest in zones zone = "east" site = "tokyo"
//
//   [[link]]                     # between the members of one island, node, rack, zone, site,
//   cluster level = "rack"               # * bandwidth = "25 GB/s"        # one direction, of one
//   member latency = "2 us" uplink_ratio = "1/3"         # the next outer level has this share of
//   the bandwidth locality_penalty = 1.1       # measured slowdown of jobs that span members of
//   this level
//
//   [[resource_type]]            # a slice of a node that jobs ask for by name
//   name = "G.small"             # *
//   gpus = 1
//   cores = 5
//   memory = "60 GiB"
//   ssd = "180 GiB"
//   max_instances = 1            # of one job
//   walltime_max = "168h"        # no limit if left out
//   walltime_default = "1h"      # of jobs that name none
//
// An unknown key is refused, so that no typing error passes for a default.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/config.hpp"
#include "base/result.hpp"
#include "core/model/cluster.hpp"

namespace goban::core::model {

/// Most nodes of a cluster file or preset; node sizes end at 255 GPUs, clusters at 2^24.
inline constexpr int64_t kNodesMax = 131'072;

/// Reads a text; `file` stands for it in messages. Errors: BadData with line, column, field and
/// remedy.
[[nodiscard]] base::Result<Cluster> parse_cluster(std::string_view toml, const std::string& file);

/// One table [[resource_type]], as above; problems go to the reader. Whether its name is unique and
/// whether it fits anywhere is for the caller to see.
[[nodiscard]] ResourceType read_resource_type(base::TableReader& table);
/// An instance has room on an empty node.
[[nodiscard]] bool fits_on(const ResourceType& type, const Node& node);

/// The cluster as such a file; parse_cluster reads it back equal, except for the names of racks,
/// zones and sites, which a Cluster does not keep.
[[nodiscard]] std::string to_toml(const Cluster& cluster);

}  // namespace goban::core::model
