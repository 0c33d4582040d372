// Lower bound for `goban simulate`: the cost of a minimal loop over the same history, without
// policies, error handling, formats or individual GPUs.
#pragma once

#include <string>

namespace goban::bench {

/// Reads `jobs_csv` (job_id,submit_time,duration,num_gpus,...; integer seconds, sorted, no errors),
/// runs strict FIFO with free counts and a heap of finish times, and writes
/// job_id,submit_s,start_s,finish_s for every job. Returns the mean JCT in seconds. `nodes` = 1:
/// one count for the whole cluster, the smallest possible loop. More: one count per node; a job
/// takes the node with the fewest free GPUs that fits, otherwise nodes with most free GPUs
/// (packed).
double floor_simulate(const std::string& jobs_csv, long nodes, long gpus_per_node,
                      const std::string& out_csv);

}  // namespace goban::bench
