// The JSON shapes of Slurm's node lists; used by slurm_nodes.cpp alone.
#pragma once

#include <string>
#include <string_view>

#include "core/model/import/site_nodes.hpp"

namespace goban::core::model {

/// What any of Slurm's formats says of a node, before it is understood.
struct SlurmNodeFacts {
  std::string gres;
  std::string tres;
  std::string state;  ///< flags joined by '+'
  int64_t cpus = 0;
  int64_t mem_mib = 0;
  int64_t disk_mib = 0;
};

/// Fills in GPUs, host and state. Errors: BadData whose field is "gres" or "tres".
[[nodiscard]] base::Status set_slurm_facts(const SlurmNodeFacts& facts, SiteNode& node);

/// Reads {"nodes": [...]} or {"sinfo": [...]}. Errors: BadData with line (syntax) or path.
[[nodiscard]] base::Result<SiteNodes> parse_slurm_json(std::string_view text,
                                                       const std::string& file);

}  // namespace goban::core::model
