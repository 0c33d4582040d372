// The JSON forms of Slurm's node lists; used by slurm_nodes.cpp only.
#pragma once

#include <string>
#include <string_view>

#include "core/model/import/site_nodes.hpp"

namespace goban::core::model {

/// Properties of a node as any of Slurm's formats states them, unparsed.
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
