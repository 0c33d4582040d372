// The outputs of Worth: JSON, a table for a terminal, CSV (docs/simulate.md, what it is worth).
#pragma once

#include <string>

#include "base/result.hpp"
#include "study/results/worth.hpp"

namespace goban::study::results {

/// The member "worth" of `goban simulate --json` and of the report's document. null: not known, not
/// priced, or the reference itself.
[[nodiscard]] std::string worth_json(const Worth& worth);

/// For a terminal of this width in characters (0 = no limit): one row per policy, then worst seeds,
/// worst accounts and pilots.
[[nodiscard]] std::string worth_table(const Worth& worth, size_t terminal_width = 0);

/// Writes one row per history and policy, a year each:
/// policy,seed,span_days,cost,electricity,gpu_cost,kwh,carbon_kg,gpu_hours,avg_wait_s,p99_jct_s.
/// The recorded history has no seed. The file appears complete or not at all. Errors: Failed if it
/// cannot be written.
[[nodiscard]] base::Status write_worth_csv(const std::string& path, const Worth& worth);

}  // namespace goban::study::results
