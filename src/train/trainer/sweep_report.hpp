// The report of a sweep: one HTML file without anything from outside.
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

/// Figures (accuracy and loss against epoch, of every selection and control), the claims, layouts
/// compared, the largest batches, refused runs, the environment and the script.
[[nodiscard]] std::string sweep_html(const SweepReport& report);

}  // namespace goban::train::trainer
