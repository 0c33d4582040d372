// What `goban profile` prints: a table of scores with what stands out, or the same as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "profile/measure/findings.hpp"
#include "service/machine_gpus.hpp"

namespace goban::cli {

struct ProfileReport {
  const service::MachineGpus& machine;
  const profile::MachineScores& scores;
  std::vector<bool> measured{};  ///< by GPU: just now
  bool compare = true;           ///< tell of changes
};

[[nodiscard]] std::string report_text(const ProfileReport& report);
[[nodiscard]] nlohmann::json report_json(const ProfileReport& report);

}  // namespace goban::cli
