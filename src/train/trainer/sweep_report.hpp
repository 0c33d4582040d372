// The report of a sweep: one self-contained HTML file.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "train/trainer/sweep.hpp"
#include "train/trainer/sweep_claims.hpp"

namespace goban::train::trainer {

struct SweepReport {
  const SweepOptions* options = nullptr;
  const SweepResult* result = nullptr;
  std::vector<Claim> claims;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string script;
};

/// Figures (accuracy and loss against epoch, for every selection and control), claims, compared
/// layouts, largest batches, rejected runs, environment and script.
[[nodiscard]] std::string sweep_html(const SweepReport& report);

}  // namespace goban::train::trainer
