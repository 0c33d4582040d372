// Nodes of a Slurm cluster, as its own commands print them (man scontrol, man sinfo, gres.conf):
//
//   scontrol show node          NodeName=... Gres=gpu:a100:4(S:0-1) CfgTRES=...
//   scontrol show node --json   {"nodes": [{"name", "cpus", "real_memory", "gres", "state"}]}
//   sinfo --json                the same in 22.05; from 23.02 on {"sinfo": [{"nodes", "gres"}]}
//   scontrol show topology      SwitchName=... Nodes=... or BlockName=... Nodes=...
//   topology.conf               the same
//
// Checked against the documented formats of Slurm 22.05 to 24.05.
#pragma once

#include <string>
#include <string_view>

#include "core/model/import/site_nodes.hpp"

namespace goban::core::model {

/// Reads any of the node lists above; the first character determines the format. Nodes in state
/// FUTURE do not exist yet and are excluded, with a note. Errors: BadData with line (text) or path
/// (JSON).
[[nodiscard]] base::Result<SiteNodes> parse_slurm_nodes(std::string_view text,
                                                        const std::string& file);

/// Reads a topology: leaf switches (or blocks) become racks, their parent switches zones if there
/// are several. Nodes that are not in `site` only cause a note. Errors: BadData with line.
[[nodiscard]] base::Status add_slurm_topology(std::string_view text, const std::string& file,
                                              SiteNodes& site);

/// GPUs of a node, from its generic resources.
struct SlurmGpus {
  int64_t count = 0;
  std::string type;     ///< several types are joined by '+'
  int64_t sockets = 0;  ///< that they are attached to; 0 = not stated
};

/// Reads "gpu:a100:4(S:0-1),nic:2" or the "gres/gpu:a100=4" entries of TRES; "(null)" = none.
/// Errors: BadData without a place.
[[nodiscard]] base::Result<SlurmGpus> parse_slurm_gres(std::string_view gres);
[[nodiscard]] base::Result<SlurmGpus> parse_slurm_tres(std::string_view tres);

/// True if jobs can start on a node in this state now or later ("IDLE+CLOUD": yes, "DOWN*+DRAIN":
/// no).
[[nodiscard]] bool slurm_state_usable(std::string_view state);

}  // namespace goban::core::model
