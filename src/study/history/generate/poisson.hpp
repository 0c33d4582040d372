// A Poisson stream of independent jobs. The same options give the same bytes on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "study/history/generate/output.hpp"

namespace goban::study::history {

/// A weighted choice; weights need not add up to one.
struct GpuShare {
  int32_t num_gpus = 1;
  double weight = 1;
};
struct ModelShare {
  std::string model;
  double weight = 1;
};

/// A Poisson stream of independent jobs. The defaults are ours; the sizes have the shape of
/// Microsoft's Philly trace (Jeon et al., ATC 2019): most jobs use one GPU, a few use many.
struct PoissonOptions {
  uint64_t seed = 1;
  int64_t num_jobs = 10'000;
  int64_t cluster_gpus = 64;
  /// Offered load: GPU-seconds of work that arrive per GPU and second.
  double load = 0.8;
  /// If > 0, all jobs arrive within this time, and `load` is ignored.
  double horizon_s = 0;
  /// Durations are lognormal: their mean, and the standard deviation of their logarithm. They are
  /// integer seconds from 1 to `duration_max_s`.
  double duration_mean_s = 5'400;
  double duration_sigma = 1.5;
  double duration_max_s = 30 * 86'400.0;
  /// Sizes above `cluster_gpus` are excluded.
  std::vector<GpuShare> gpu_shares = {{1, 80}, {2, 6}, {4, 7}, {8, 5}, {16, 1.5}, {32, 0.5}};
  /// The number of jobs of user k = 0, 1, ... is proportional to 1 / (k + 1)^user_skew (Zipf).
  int32_t num_users = 100;
  double user_skew = 1.1;
  /// Empty: PAL's six models with equal probability.
  std::vector<ModelShare> models{};
  /// Adds a column walltime_s: the true duration times 1 to 5, rounded up to a customary limit.
  bool walltimes = false;
};

/// Writes a generic CSV in pieces of about 1 MiB to `sink`. Errors: Usage if an option is out of
/// range. Cost: about 0.3 microseconds per job.
[[nodiscard]] base::Status generate_poisson(const PoissonOptions& options, const TextSink& sink,
                                            const WorkProgress& progress = {});

}  // namespace goban::study::history
