// Nodes of a Slurm cluster, as its own commands print them (man scontrol, man sinfo, gres.conf):
//
//   scontrol show node             text: NodeName=... Gres=gpu:a100:4(S:0-1) CfgTRES=...
//   scontrol show node --json      {"nodes": [{"name", "cpus", "real_memory", "gres", "state",
//   ...}]} sinfo --json                   the same in 22.05; from 23.02 on {"sinfo": [{"nodes",
//   "gres", ...}]} scontrol show topology, topology.conf     SwitchName=... Nodes=...,
//   BlockName=... Nodes=...
//
// Checked against the documented shapes of Slurm 22.05 to 24.05.
#pragma once

#include <string>
#include <string_view>

#include "core/model/import/site_nodes.hpp"

namespace goban::core::model {

/// Reads any of the node lists above, told apart by their first character. Nodes in state FUTURE do
/// not exist and are left out with a note. Errors: BadData with line (text) or path (JSON).
[[nodiscard]] base::Result<SiteNodes> parse_slurm_nodes(std::string_view text,
                                                        const std::string& file);

/// Reads a topology: leaf switches (or blocks) become racks, the switches right above them zones if
/// there are several. Errors: BadData with line; a switch of a node that is not in `site` is only
/// noted.
[[nodiscard]] base::Status add_slurm_topology(std::string_view text, const std::string& file,
                                              SiteNodes& site);

/// GPUs of a node, from its generic resources.
struct SlurmGpus {
  int64_t count = 0;
  std::string type;     ///< several types are joined by '+'
  int64_t sockets = 0;  ///< over which they are spread; 0 = not said
};

/// Reads "gpu:a100:4(S:0-1),nic:2" or the "gres/gpu:a100=4" entries of TRES; "(null)" = none.
/// Errors: BadData without a place.
[[nodiscard]] base::Result<SlurmGpus> parse_slurm_gres(std::string_view gres);
[[nodiscard]] base::Result<SlurmGpus> parse_slurm_tres(std::string_view tres);

/// True if a state such as "IDLE+CLOUD" or "DOWN*+DRAIN" lets jobs start sooner or later.
[[nodiscard]] bool slurm_state_usable(std::string_view state);

}  // namespace goban::core::model
