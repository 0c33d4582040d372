// The output of `goban profile`: a table of scores with notes, or the same as JSON.
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
  std::vector<bool> measured{};  ///< by GPU: in this run
  bool compare = true;           ///< report changes since earlier measurements
};

[[nodiscard]] std::string report_text(const ProfileReport& report);
[[nodiscard]] nlohmann::json report_json(const ProfileReport& report);

}  // namespace goban::cli
