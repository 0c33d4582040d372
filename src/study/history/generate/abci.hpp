// A synthetic year of the ABCI supercomputer, calibrated on the published analysis of its job
// history of fiscal year 2019 (abci/facts.hpp). docs/traces.md describes what it reproduces, what
// it does not, and what is assumed.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "study/history/generate/output.hpp"

namespace goban::study::history {

enum class AbciPopulation : uint8_t {
  Dl,   ///< the deep-learning jobs, which the paper describes
  All,  ///< also all others, of which the paper gives only the number
};

struct AbciOptions {
  static constexpr int64_t kJobsMax = 25'000'000;
  uint64_t seed = 1;
  AbciPopulation population = AbciPopulation::Dl;
  /// Jobs of the whole year; 0 = as many as on ABCI (497,730 and 2,501,437).
  int64_t num_jobs = 0;
  /// Only the first days of the year are written; 0 = all 362.
  int32_t days = 0;
};

/// Writes a generic CSV, in pieces of about 1 MiB, with the resource types and limits of the
/// cluster preset `abci`. With `All` the column `population` distinguishes the groups: dl, cpu,
/// short (below 300 s) and idle (longer, but not deep learning). Errors: Usage if an option is out
/// of range. Cost: about 0.8 microseconds and 45 bytes of memory per job of the year.
[[nodiscard]] base::Status generate_abci(const AbciOptions& options, const TextSink& sink,
                                         const WorkProgress& progress = {});

}  // namespace goban::study::history
