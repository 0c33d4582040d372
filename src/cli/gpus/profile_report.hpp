// What `goban profile` prints: a table of scores with what stands out, or the same as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/knowledge/measure/findings.hpp"
#include "serve/daemon/machine_gpus.hpp"

namespace goban::cli {

struct ProfileReport {
  const base::gpus::MachineGpus& machine;
  const core::knowledge::MachineScores& scores;
  std::vector<bool> measured{};  ///< by GPU: just now
  bool compare = true;           ///< tell of changes
};

[[nodiscard]] std::string report_text(const ProfileReport& report);
[[nodiscard]] nlohmann::json report_json(const ProfileReport& report);

}  // namespace goban::cli
