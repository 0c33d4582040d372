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

/// The history, and counts of imported and excluded entries.
struct GavelImport {
  ColocationHistory history;
  int64_t alone = 0;
  int64_t pairs = 0;      ///< unordered
  int64_t never = 0;      ///< pairs with rate zero: not measured or too large, never co-located
  int64_t multi_gpu = 0;  ///< entries of multi-GPU jobs, excluded: their pairs are not measured
  int64_t no_rate = 0;    ///< entries of jobs whose rate alone is zero, excluded
  int64_t unconsolidated = 0;  ///< GPU types that denote GPUs on several nodes, excluded
};

/// Parses such a file; `file` is its name in messages. GPU types are converted to upper case, batch
/// sizes to inputs ("batch 64"). The two entries of a pair must agree. Errors: BadData with the
/// entry.
[[nodiscard]] base::Result<GavelImport> parse_gavel_throughputs(std::string_view json,
                                                                const std::string& file);

/// Model and input of a name in Gavel: "ResNet-18 (batch size 16)" is ResNet-18 at "batch 16".
struct GavelApp {
  std::string model;
  std::string input;
};
[[nodiscard]] GavelApp gavel_app(std::string_view name);

}  // namespace goban::core::knowledge
