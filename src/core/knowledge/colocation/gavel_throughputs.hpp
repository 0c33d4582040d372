// Measured throughputs of Gavel (Narayanan et al., OSDI 2020) as a co-location history. The format:
// {gpu: {"('ResNet-18 (batch size 16)', 1)": {"null": rate alone, "('other', 1)": [own rate,
// other's]}}}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/knowledge/colocation/colocation_history.hpp"

namespace goban::core::knowledge {

/// What was taken, and what was not and why.
struct GavelImport {
  ColocationHistory history;
  int64_t alone = 0;
  int64_t pairs = 0;           ///< unordered
  int64_t never = 0;           ///< pairs of rate zero: unmeasured or too large, never to be packed
  int64_t multi_gpu = 0;       ///< entries of jobs on several GPUs: no pair of them is measured
  int64_t no_rate = 0;         ///< entries of jobs whose own rate alone is zero
  int64_t unconsolidated = 0;  ///< GPU types that stand for GPUs spread over nodes
};

/// Reads a text; `file` stands for it in messages. GPU types become capital letters, batch sizes
/// inputs ("batch 64"). A pair listed from both sides has to agree. Errors: BadData with the entry.
[[nodiscard]] base::Result<GavelImport> parse_gavel_throughputs(std::string_view json,
                                                                const std::string& file);

/// The model and input of Gavel's name: "ResNet-18 (batch size 16)" is ResNet-18 at "batch 16".
struct GavelApp {
  std::string model;
  std::string input;
};
[[nodiscard]] GavelApp gavel_app(std::string_view name);

}  // namespace goban::core::knowledge
