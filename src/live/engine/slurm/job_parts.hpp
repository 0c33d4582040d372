// What a job holds, as `scontrol -d -o show job` prints it: the indices of its GPUs on each node.
// Slurm's bookkeeping is the only source of physical indices; CUDA_VISIBLE_DEVICES may be relative.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "live/engine.hpp"

namespace goban::live::engine::slurm {

/// GPU indices of one node in "gpu:g1:1(IDX:1),gpu:g3:2(IDX:3-4),shard:g0:2(IDX:0)", ascending; in
/// 24.11 shards are "shard:2(2/4,0/4)", held and all of each GPU.
/// Types that are listed with a count of 0 are passed over. Shards count as their GPU. Errors:
/// BadData.
[[nodiscard]] base::Result<std::vector<int32_t>> gpu_indices(std::string_view gres);

/// The parts of a job that runs, from its record. `name` is the job's name (JobWords), which stands
/// before them and may contain anything; what follows them is not read. Empty if it holds nothing.
/// Errors: BadData if the record is not that of a job with this name.
[[nodiscard]] base::Result<std::vector<NodePart>> parse_job_parts(std::string_view record,
                                                                  std::string_view name);

}  // namespace goban::live::engine::slurm
