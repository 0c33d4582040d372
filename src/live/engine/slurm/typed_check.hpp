// What would no longer work if the GRES of the nodes got a type per GPU index (docs/slurm.md): jobs
// and limits that name other types. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "live/engine/slurm/job_list.hpp"

namespace goban::live::engine::slurm {

/// For the administrator, one line each: jobs of `waiting` that name a GPU type, and limits on a
/// GPU type in `assoc_mgr` (limits.hpp). `index_types`: types that are one per index already.
[[nodiscard]] std::vector<std::string> broken_by_types(std::span<const JobWords> waiting,
                                                       std::string_view assoc_mgr,
                                                       std::span<const std::string> index_types);

}  // namespace goban::live::engine::slurm
