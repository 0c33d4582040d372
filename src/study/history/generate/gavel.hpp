// Training jobs with deadlines, drawn as Gavel's simulator draws them (Narayanan et al., OSDI
// 2020): the workload of EaCO's study (EaCO: simulation, docs/papers.md).
// - arrivals: Poisson
// - durations: 10^U(1.5, 3) min with probability 0.8, else 10^U(3, 4) min
// - GPUs: 1, 2, 4, 8 with probabilities 0.70, 0.10, 0.15, 0.05
// - types: 26 of model and batch size, equally likely; several GPUs: only those Gavel distributes
// - deadline: 1.2, 2 or 10 times the duration after submission, in equal thirds
// Not from Gavel: epochs, memory and utilisation; see gavel.cpp and docs/energy.md.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "study/history/generate/output.hpp"

namespace goban::study::history {

struct GavelOptions {
  uint64_t seed = 1;
  int64_t num_jobs = 1'000;
  int64_t cluster_gpus = 64;
  /// Offered load: GPU-seconds of work that arrive per GPU and second.
  double load = 0.8;
};

/// Writes a generic CSV in pieces of about 1 MiB, with the columns batch_size, epochs,
/// gpu_mem_bytes, gpu_util_pct and deadline_s. Errors: Usage if an option is out of range. Cost:
/// about 0.3 microseconds per job.
[[nodiscard]] base::Status generate_gavel(const GavelOptions& options, const TextSink& sink,
                                          const WorkProgress& progress = {});

}  // namespace goban::study::history
