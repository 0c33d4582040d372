// The floor of `goban simulate`: what a bare loop over the same history costs that knows nothing
// of policies, errors, formats or GPUs of their own.
#pragma once

#include <string>

namespace goban::bench {

/// Reads `jobs_csv` (job_id,submit_time,duration,num_gpus,...; whole seconds, sorted, no errors),
/// runs strict FIFO with free counts and a heap of finish times, and writes
/// job_id,submit_s,start_s,finish_s for every job. Returns the mean JCT in seconds.
/// `nodes` = 1: one count for the whole cluster, the barest loop there is. More: a count a node;
/// a job takes from the tightest node that holds it, else from the fullest ones (packed).
double floor_simulate(const std::string& jobs_csv, long nodes, long gpus_per_node,
                      const std::string& out_csv);

}  // namespace goban::bench
